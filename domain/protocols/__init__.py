"""The ports: what the brain needs from the world. Adapters live in bot/ and storage/ and are chosen in bot/app.py."""

from domain.protocols.books import BookFile, BookFiles, BookReader, BookView, Progress
from domain.protocols.clock import Clock
from domain.protocols.conversations import ChatMessageRepository, ConversationRepository, TurnRepository
from domain.protocols.models import AskAside, ChatProvider
from domain.protocols.people import PrivacyRepository, ReaderRepository, RetentionRepository, UsageRepository
from domain.protocols.shelves import BookRepository, DerivedTextRepository
from domain.protocols.strategies import ConversationContextStrategy, RetrievalStrategy
from domain.protocols.tools import Dispatcher, Toolbox, ToolHandler, ToolOutput

__all__ = [
    "AskAside",
    "BookFile",
    "BookFiles",
    "BookReader",
    "BookRepository",
    "BookView",
    "ChatMessageRepository",
    "ChatProvider",
    "Clock",
    "ConversationContextStrategy",
    "ConversationRepository",
    "DerivedTextRepository",
    "Dispatcher",
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
