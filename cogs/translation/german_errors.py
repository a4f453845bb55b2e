"""German: the gist of every failure the program knows, by the kind of its code."""

from collections.abc import Mapping

from domain.errors import BookErrorCode, ConversationErrorCode, LLMErrorCode, SettingsErrorCode, StorageErrorCode

GERMAN_ERRORS: Mapping[type[str], Mapping[str, str]] = {
    BookErrorCode: {
        BookErrorCode.NOT_FOUND: "Das gibt es hier nicht (mehr).",
        BookErrorCode.PARSE_FAILED: "Diese Datei lässt sich nicht lesen. Bitte versuche eine andere Ausgabe.",
        BookErrorCode.UNSUPPORTED_FORMAT: (
            "Dieses Format kann ich nicht lesen. Ich lese EPUB, PDF, DOCX, HTML, Markdown und reinen Text."
        ),
        BookErrorCode.ALREADY_EXISTS: "Dieses Buch steht schon im Regal.",
        BookErrorCode.INVALID_STATE: "Dieses Buch lässt sich gerade nicht öffnen. Bitte füge es noch einmal hinzu.",
        BookErrorCode.ENCRYPTED: "Diese Datei ist mit einem Passwort geschützt. Bitte speichere sie ohne.",
        BookErrorCode.DRM_PROTECTED: "Dieses Buch ist kopiergeschützt; ich kann es nicht lesen.",
        BookErrorCode.NO_TEXT: "In dieser Datei ist kein Text, vermutlich nur Bilder von Seiten.",
        BookErrorCode.TOO_LARGE: "Diese Datei ist zu groß. Gibt es eine kleinere Ausgabe?",
        BookErrorCode.TIMED_OUT: "Das Lesen dauerte zu lange. Bitte versuche eine einfachere Ausgabe.",
    },
    ConversationErrorCode: {
        ConversationErrorCode.NOT_FOUND: "Dieses Gespräch gibt es nicht (mehr).",
        ConversationErrorCode.INVALID_STATE: "Das geht mit diesem Gespräch nicht.",
    },
    LLMErrorCode: {
        LLMErrorCode.API_CALL_FAILED: "Das Modell konnte die Anfrage nicht ausführen. Bitte versuche es noch einmal.",
        LLMErrorCode.API_KEY_MISSING: "Das Modell nimmt den Schlüssel nicht an; wer den Bot betreibt, muss ihn prüfen.",
        LLMErrorCode.UNKNOWN_MODEL: "Das eingestellte Modell gibt es nicht; wer den Bot betreibt, muss es prüfen.",
        LLMErrorCode.OUT_OF_CREDIT: "Das Guthaben beim Modell ist aufgebraucht; wer den Bot betreibt, muss es prüfen.",
        LLMErrorCode.RATE_LIMITED: "Das Modell wird gerade zu viel gefragt. Bitte versuche es gleich noch einmal.",
        LLMErrorCode.OVERLOADED: "Das Modell ist gerade überlastet. Bitte versuche es gleich noch einmal.",
        LLMErrorCode.TIMEOUT: "Das dauerte zu lange. Bitte versuche es noch einmal.",
        LLMErrorCode.CONNECTION_LOST: "Die Leitung zum Modell ist abgerissen. Bitte versuche es noch einmal.",
        LLMErrorCode.CONTEXT_EXCEEDED: "Dieses Gespräch ist zu lang geworden. Bitte beginne ein neues über das Buch.",
        LLMErrorCode.REFUSED: "Das Modell möchte darauf nicht antworten.",
        LLMErrorCode.EMPTY_REPLY: "Es kam keine Antwort zustande. Bitte frage noch einmal.",
        LLMErrorCode.UNSUPPORTED_FEATURE: "Das kann dieses Modell nicht; wer den Bot betreibt, muss es wechseln.",
        LLMErrorCode.DAILY_LIMIT: "Deine Token für heute sind aufgebraucht; deine Frage ist bis morgen aufgehoben.",
    },
    StorageErrorCode: {
        StorageErrorCode.DB_CORRUPTED: "Die Datenbank ist beschädigt; wer den Bot betreibt, muss sie prüfen.",
        StorageErrorCode.MIGRATION_FAILED: "Die Datenbank ließ sich nicht umstellen; das Protokoll sagt mehr.",
        StorageErrorCode.WRITE_FAILED: "Das ließ sich nicht speichern. Bitte versuche es noch einmal.",
        StorageErrorCode.IN_USE: "Die Datenbank wird schon von einem anderen Marginalia benutzt.",
        StorageErrorCode.NOT_FOUND: "Das ist im Speicher nicht (mehr) zu finden.",
    },
    SettingsErrorCode: {
        SettingsErrorCode.INVALID: "Eine Einstellung des Bots stimmt nicht; wer ihn betreibt, muss sie prüfen.",
    },
    str: {"internal": "Bei mir ist etwas schiefgegangen; es ist vermerkt. Bitte versuche es noch einmal."},
}
