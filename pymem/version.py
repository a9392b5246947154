"""The release of this package and of the schema it comes with."""

__version__ = "0.1.0"
