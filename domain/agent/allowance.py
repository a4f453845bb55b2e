"""How much a person may use in a day."""

from datetime import datetime

from domain.errors import LLMError, LLMErrorCode
from domain.protocols import UsageRepository


class Allowance:
    """A limit of tokens per person and day (midnight to midnight UTC); 0 means none."""

    def __init__(self, usage: UsageRepository, daily_tokens: int = 0) -> None:
        self._usage = usage
        self._daily_tokens = daily_tokens

    async def check(self, reader_id: str, now: datetime) -> None:
        """Let the reader pass.

        Raises:
            LLMError: DAILY_LIMIT, the day's tokens are used up.
        """
        if not self._daily_tokens:
            return
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        used = (await self._usage.total_for_reader(reader_id, midnight)).tokens
        if used >= self._daily_tokens:
            hours = 24 - now.hour
            raise LLMError(
                LLMErrorCode.DAILY_LIMIT,
                f"You have read a lot with me today: your {self._daily_tokens:,} tokens for the day are used up. "
                f"There will be new ones in about {hours} {'hour' if hours == 1 else 'hours'}; "
                "your question is kept until then.",
            )
