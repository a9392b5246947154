"""Characters without a glyph, as classes of regular expressions without the brackets.

Written by make generate from the properties of Unicode (generator/invisible.py), as are
the classes of the SQL functions.
"""

INVISIBLE = (
    "\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""Characters that a reader does not see, spaces apart: control, format and direction
characters, line and paragraph separators, fillers, variation selectors, tags."""

JOINING = "\u00ad\u034f\u180b-\u180d\u180f\u200c-\u200d\u2060\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Those of them that stand inside words and emoji: joiners, variation selectors, soft
hyphens. Without them the text stays one word."""
