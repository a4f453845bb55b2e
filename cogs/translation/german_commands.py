"""German: the descriptions of commands, their options and choices. Discord allows each 100 characters."""

GERMAN_COMMANDS = {
    "The books of this server": "Die Bücher dieses Servers",
    "Add a book: EPUB, PDF, DOCX, HTML, Markdown or plain text": (
        "Ein Buch hinzufügen: EPUB, PDF, DOCX, HTML, Markdown oder reiner Text"
    ),
    "The file": "Die Datei",
    "Its title, where the file's own is not good": "Sein Titel, wenn der in der Datei nichts taugt",
    "Its author, likewise": "Wer es geschrieben hat, ebenso",
    "The books on the shelf": "Die Bücher im Regal",
    "A book's contents and state": "Inhalt und Zustand eines Buches",
    "The book": "Das Buch",
    "Take a book off the shelf, with its conversations": "Ein Buch mit seinen Gesprächen aus dem Regal nehmen",
    "Talk with a book, in a thread of its own": "Mit einem Buch sprechen, in einem eigenen Thread",
    "Your first question; it is answered at once": "Deine erste Frage; sie wird gleich beantwortet",
    "What to call the conversation": "Wie das Gespräch heißen soll",
    "An earlier conversation to go on with": "Ein früheres Gespräch, das weitergehen soll",
    "Only you, and those who manage threads, see it": "Nur du, und wer Threads verwaltet, sieht es",
    "Conversations about books, each in its thread": "Gespräche über Bücher, jedes in seinem Thread",
    "Open a conversation about a book, in a thread of its own": (
        "Ein Gespräch über ein Buch beginnen, in einem eigenen Thread"
    ),
    "The conversations you can see, newest first": "Die Gespräche, die du sehen kannst, neueste zuerst",
    "Only those about this book": "Nur die über dieses Buch",
    "Give a conversation and its thread another title": "Einem Gespräch und seinem Thread einen anderen Titel geben",
    "The new title": "Der neue Titel",
    "Which one; in its thread it may be left out": "Welches; in seinem Thread kann das wegbleiben",
    "Delete a conversation with its messages and its thread": (
        "Ein Gespräch mit seinen Nachrichten und seinem Thread löschen"
    ),
    "A conversation as a file, with its citations and tool calls": (
        "Ein Gespräch als Datei, mit Belegen und Werkzeugaufrufen"
    ),
    "Markdown by default": "Ohne Angabe Markdown",
    "Markdown": "Markdown",
    "JSON": "JSON",
    "Show how answers are found: in this thread, or elsewhere by default for you": (
        "Zeigen, wie Antworten gefunden werden: in diesem Thread, anderswo als deine Vorliebe"
    ),
    "Left out, it is switched over": "Ohne Angabe wird umgeschaltet",
    "on": "an",
    "off": "aus",
    "How far you have read: nothing beyond it is told. Without options it is shown": (
        "Wie weit du gelesen hast: Mehr wird nicht verraten. Ohne Angaben wird es gezeigt"
    ),
    "The book; in a conversation's thread it may be left out": "Das Buch; im Thread eines Gesprächs kann es wegbleiben",
    "The last page you have read": "Die letzte Seite, die du gelesen hast",
    "The last chapter you have read": "Das letzte Kapitel, das du gelesen hast",
    "You have read all of it": "Du hast es ganz gelesen",
    "Forget your position; the whole book is open then": "Deinen Lesestand vergessen; das ganze Buch steht dann offen",
    "Tokens and cost: yours, and for managers those of the server": (
        "Token und Kosten: deine, und wer den Server verwaltet, sieht auch seine"
    ),
    "What is stored about you: have a copy, or have it erased": (
        "Was über dich gespeichert ist: als Kopie, oder gelöscht"
    ),
    "How to read a book with me": "Wie man mit mir ein Buch liest",
}
