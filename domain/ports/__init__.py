"""The ports: what the brain needs from the world. Adapters live in bot/ and storage/ and are chosen in bot/app.py."""

from domain.ports.books import (
    BookFile,
    BookFiles,
    BookParser,
    BookRepository,
    BookView,
    DerivedTextRepository,
    Progress,
)
from domain.ports.conversations import (
    ChatMessageRepository,
    ConversationRepository,
    LeaseRepository,
    PrivacyRepository,
    ReaderRepository,
    RetentionRepository,
    TurnRepository,
    UsageRepository,
)
from domain.ports.models import (
    ChatProvider,
    Clock,
    ConversationContextStrategy,
    Dispatcher,
    RetrievalStrategy,
    Toolbox,
    ToolHandler,
    ToolOutput,
)

__all__ = [
    "BookFile",
    "BookFiles",
    "BookParser",
    "BookRepository",
    "BookView",
    "ChatMessageRepository",
    "ChatProvider",
    "Clock",
    "ConversationContextStrategy",
    "ConversationRepository",
    "DerivedTextRepository",
    "Dispatcher",
    "LeaseRepository",
    "PrivacyRepository",
    "Progress",
    "ReaderRepository",
    "RetentionRepository",
    "RetrievalStrategy",
    "ToolHandler",
    "ToolOutput",
    "Toolbox",
    "TurnRepository",
    "UsageRepository",
]
