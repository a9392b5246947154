"""A stand-in for the LLM of consolidation, which answers a prompt at once.

It makes a fact of most episodes, confirms, corrects and ends facts that it is shown, and now and
then fails, writes nonsense or stops in the middle. What it does follows from the prompt alone. Run
as a command, it reads the prompt from standard input.
"""

import json
import random
import re
import sys


def answer(prompt: str) -> str | None:
    """Return the answer to a prompt, which may be nonsense; None for a failure."""
    # Episodes, facts and rules stand in lines that begin with their numbers.
    episodes = re.findall(r"^<(e[0-9]+) [^>]*> (.*)$", prompt, re.MULTILINE)
    facts = re.findall(r"^(f[0-9]+) \(", prompt, re.MULTILINE)
    rules = re.findall(r"^(r[0-9]+) \(", prompt, re.MULTILINE)
    chance = random.Random("".join(content for _, content in episodes))
    draw = chance.random()
    if draw < 0.04 or not episodes:
        return None
    if draw < 0.08:
        return "I would rather not."
    named = {"evidence": [episodes[0][0]]}
    told = {
        "new_facts": [
            {
                "subject": " ".join(content.split()[3:5]),
                "predicate": chance.choice(("likes", "mood", "heard_of")),
                "content": content[:200],
                "evidence": [number],
            }
            for number, content in episodes
            if chance.random() < 0.7
        ],
        "new_rules": [
            {"content": f"Remember: {content[:100]}", "evidence": [number]}
            for number, content in episodes
            if chance.random() < 0.1
        ],
        "confirmations": [{"target_id": each, **named} for each in facts[:3] + rules[:1]],
        "updated_facts": [
            {"target_id": each, "content": episodes[0][1][:150], **named} for each in facts[3:5]
        ],
        "ended_facts": [
            {"target_id": each, "ended_at": None, "reason": None, **named} for each in facts[5:6]
        ],
    }
    written = json.dumps(told)
    return written if draw < 0.97 else written[: len(written) // 2]


if __name__ == "__main__":
    sys.stdout.write(answer(sys.stdin.read()) or sys.exit("out of credit"))
