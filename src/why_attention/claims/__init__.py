"""The 25 claims of the chapter: the common version, a check that measures it, and the book's version."""

from why_attention.claims import attention, comparison, convolution, history, recurrence
from why_attention.claims.claim import Claim, Result, Source, Verdict
from why_attention.claims.table import statements, table

__all__ = ["CLAIMS", "Claim", "Result", "Source", "Verdict", "statements", "table"]

CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        history.CLAIMS + recurrence.CLAIMS + convolution.CLAIMS + attention.CLAIMS + comparison.CLAIMS,
        key=lambda claim: claim.number,
    )
)
