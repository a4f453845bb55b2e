"""German: what the commands answer."""

from collections.abc import Mapping

from domain.errors import BookErrorCode, ConversationErrorCode, LLMErrorCode, SettingsErrorCode, StorageErrorCode

GERMAN = {
    # Books
    "Reading": "Lese",
    "Indexing": "Erschließe",
    "This file has {size:.0f} MB, and {limit} MB is the most I take. Is there a smaller edition?": (
        "Diese Datei hat {size:.0f} MB, und mehr als {limit} MB nehme ich nicht. Gibt es eine kleinere Ausgabe?"
    ),
    "Discord did not hand out the file. Please attach it again.": (
        "Discord hat die Datei nicht herausgegeben. Bitte hänge sie noch einmal an."
    ),
    "{title} by {author}": "{title} von {author}",
    "Added to the shelf": "Steht jetzt im Regal",
    "This book is on the shelf already": "Dieses Buch steht schon im Regal",
    "Author": "Von",
    "Format": "Format",
    "Pages": "Seiten",
    "Chapters": "Kapitel",
    "Words": "Wörter",
    "State": "Zustand",
    "Added": "Hinzugefügt",
    "Took": "Gedauert",
    "{seconds:.1f} s": "{seconds:.1f} s",
    "{number:,}": "{number:,}",
    "Please note": "Bitte beachten",
    "Talk with it: /chat": "Sprich mit ihm: /chat",
    "ready": "bereit",
    "its file is missing: please add it again": "seine Datei fehlt: bitte füge es noch einmal hinzu",
    "{number} page": "{number} Seite",
    "{number} pages": "{number} Seiten",
    "about {number} page": "etwa {number} Seite",
    "about {number} pages": "etwa {number} Seiten",
    "{number} chapter": "{number} Kapitel",
    "{number} chapters": "{number} Kapitel",
    "No chapters could be made out in this book.": "In diesem Buch waren keine Kapitel auszumachen.",
    "Chapter {number}": "Kapitel {number}",
    "p. {page}": "S. {page}",
    "about p. {page}": "etwa S. {page}",
    "… and {number} more": "… und {number} weitere",
    "… {number} chapter ahead of you": "… {number} Kapitel liegt noch vor dir",
    "… {number} chapters ahead of you": "… {number} Kapitel liegen noch vor dir",
    "The shelf": "Das Regal",
    "The shelf is empty. Add a book with /books add.": "Das Regal ist leer. Füge mit /books add ein Buch hinzu.",
    "{number} book": "{number} Buch",
    "{number} books": "{number} Bücher",
    "page {page} of {pages}": "Seite {page} von {pages}",
    "Remove “{title}” from the shelf?": "„{title}“ aus dem Regal nehmen?",
    "With it goes {number} conversation, its messages, and how far each reader has read.": (
        "Mit ihm geht {number} Gespräch samt Nachrichten, und wie weit jemand gelesen hat."
    ),
    "With it go {number} conversations, their messages, and how far each reader has read.": (
        "Mit ihm gehen {number} Gespräche samt Nachrichten, und wie weit jemand gelesen hat."
    ),
    "I asked that a while ago. Please use the command again.": (
        "Das habe ich vor einer Weile gefragt. Bitte nutze den Befehl noch einmal."
    ),
    "Remove it": "Herausnehmen",
    "“{title}” is off the shelf.": "„{title}“ steht nicht mehr im Regal.",
    "“{title}” was taken off the shelf, so this conversation is over.": (
        "„{title}“ wurde aus dem Regal genommen; damit ist dieses Gespräch zu Ende."
    ),
    "whoever added it": "die Person, die es hinzugefügt hat",
    "Only {who}, who added this book, or somebody with the permission “Manage Server” can remove it.": (
        "Herausnehmen kann dieses Buch nur, wer es hinzugefügt hat ({who}), oder wer das Recht „Server verwalten“ hat."
    ),
    "Which book? Name it with the option `book`, or use this in the thread of a conversation.": (
        "Welches Buch? Nenne es mit der Option `book`, oder tu dies im Thread eines Gesprächs."
    ),
    # Conversations
    "A conversation about a book": "Ein Gespräch über ein Buch",
    "Just write here: every message is answered from the book's own pages. Once somebody else writes here too, "
    "mention me or reply to me, and I leave the rest to you.": (
        "Schreib einfach hier: Jede Nachricht wird aus den Seiten des Buches beantwortet. Sobald noch jemand "
        "mitschreibt, erwähne mich oder antworte mir; alles andere überlasse ich euch."
    ),
    "Mention me, or reply to one of my answers: I cannot read other messages here, because the "
    "Message Content intent of this bot is switched off.": (
        "Erwähne mich, oder antworte auf eine meiner Antworten: Andere Nachrichten kann ich hier nicht lesen, weil "
        "der „Message Content Intent“ dieses Bots ausgeschaltet ist."
    ),
    "Spoilers": "Spoiler",
    "Where several people write, nothing is told that one of them has not reached.": (
        "Wo mehrere schreiben, wird nichts verraten, wozu eine oder einer von ihnen noch nicht gekommen ist."
    ),
    "Change it with /progress.": "Mit /progress änderst du das.",
    "Good to know": "Gut zu wissen",
    "**Stop** ends an answer and keeps what was written · **Sources** shows the sentences behind it · "
    "/verbose shows how I look things up · /help for the rest": (
        "**Stopp** beendet eine Antwort und behält, was geschrieben ist · **Quellen** zeigt die Sätze dahinter · "
        "/verbose zeigt, wie ich nachschlage · /help für alles Weitere"
    ),
    "{reader} reads this book here.": "{reader} liest hier dieses Buch.",
    "Your conversation about “{title}”: {thread}": "Dein Gespräch über „{title}“: {thread}",
    "“{title}” goes on here: {thread}": "„{title}“ geht hier weiter: {thread}",
    "You have talked about “{title}” before.": "Über „{title}“ hast du schon gesprochen.",
    "Go on with …": "Weiter mit …",
    "Start a new one": "Ein neues beginnen",
    "started {date}": "begonnen am {date}",
    "That conversation is about another book. Please choose that book.": (
        "In jenem Gespräch geht es um ein anderes Buch. Bitte wähle dieses Buch."
    ),
    "Which one? Name it with the option `conversation`, or use this in its thread.": (
        "Welches? Nenne es mit der Option `conversation`, oder tu dies in seinem Thread."
    ),
    "Several conversations are called so. Please choose one from the list while you type.": (
        "So heißen mehrere Gespräche. Bitte wähle beim Tippen eines aus der Liste."
    ),
    "I know no such conversation (any more). /conversations list shows those there are.": (
        "Ein solches Gespräch kenne ich nicht (mehr). /conversations list zeigt, welche es gibt."
    ),
    "{thread} is locked. Somebody who manages threads can unlock it.": (
        "{thread} ist gesperrt. Wer Threads verwaltet, kann die Sperre aufheben."
    ),
    "Conversations": "Gespräche",
    "There is none yet that you can see. Open one with /chat.": (
        "Es gibt noch keines, das du sehen kannst. Beginne eines mit /chat."
    ),
    "its thread is gone, /chat opens another": "sein Thread ist fort, /chat öffnet einen neuen",
    "It is called “{title}” now.": "Es heißt jetzt „{title}“.",
    "Delete “{title}”?": "„{title}“ löschen?",
    "With it go {number} message and its thread, for good.": (
        "Mit ihm gehen {number} Nachricht und sein Thread, endgültig."
    ),
    "With it go {number} messages and its thread, for good.": (
        "Mit ihm gehen {number} Nachrichten und sein Thread, endgültig."
    ),
    "Delete it": "Löschen",
    "“{title}” is deleted.": "„{title}“ ist gelöscht.",
    "whoever opened it": "die Person, die es begonnen hat",
    "Only {who}, whose conversation this is, or somebody with the permission “Manage Threads” or "
    "“Manage Server” can do that.": (
        "Das kann nur {who}, denn es ist ihr oder sein Gespräch, oder wer das Recht „Threads verwalten“ oder "
        "„Server verwalten“ hat."
    ),
    "I cannot open such a thread here. Please use this in an ordinary text channel.": (
        "Hier kann ich einen solchen Thread nicht öffnen. Bitte tu dies in einem gewöhnlichen Textkanal."
    ),
    "Discord allows two renames of a thread in ten minutes, so the thread keeps its name for now; "
    "use this again in about {minutes} min.": (
        "Discord erlaubt, einen Thread in zehn Minuten zweimal umzubenennen; vorerst behält er also seinen Namen. "
        "Versuche es in etwa {minutes} min noch einmal."
    ),
    "I may not rename the thread itself: I would need the permission “Manage Threads”.": (
        "Den Thread selbst darf ich nicht umbenennen: Dazu bräuchte ich das Recht „Threads verwalten“."
    ),
    "I may not delete the thread {thread} itself: I would need the permission “Manage Threads”. "
    "Somebody who has it can delete it.": (
        "Den Thread {thread} selbst darf ich nicht löschen: Dazu bräuchte ich das Recht „Threads verwalten“. "
        "Wer es hat, kann ihn löschen."
    ),
    # Positions, tool calls, usage
    "You have not said how far you have read: the whole book is open to you.": (
        "Du hast nicht gesagt, wie weit du gelesen hast: Das ganze Buch steht dir offen."
    ),
    "You have finished it: the whole book is open to you.": (
        "Du hast es zu Ende gelesen: Das ganze Buch steht dir offen."
    ),
    "You have not begun to read, so nothing is told yet.": (
        "Du hast noch nicht angefangen zu lesen; also wird noch nichts verraten."
    ),
    "You have read to about page {page}: nothing beyond it is told.": (
        "Du hast bis etwa Seite {page} gelesen: Was danach kommt, wird nicht verraten."
    ),
    "You have read to page {page}: nothing beyond it is told.": (
        "Du hast bis Seite {page} gelesen: Was danach kommt, wird nicht verraten."
    ),
    "Please use one of `page`, `chapter`, `finished` and `clear` at a time.": (
        "Bitte nimm nur eines von `page`, `chapter`, `finished` und `clear` auf einmal."
    ),
    "From now on I show you my tool calls.": "Von jetzt an zeige ich dir, wie ich nachschlage.",
    "I keep my tool calls to myself.": "Wie ich nachschlage, behalte ich für mich.",
    "Tool calls are shown in this thread.": "In diesem Thread wird gezeigt, wie ich nachschlage.",
    "Tool calls are hidden in this thread.": "In diesem Thread wird nicht gezeigt, wie ich nachschlage.",
    "Usage": "Verbrauch",
    "You, today": "Du, heute",
    "You, in 30 days": "Du, in 30 Tagen",
    "This server, today": "Dieser Server, heute",
    "This server, in 30 days": "Dieser Server, in 30 Tagen",
    "Left today": "Heute noch übrig",
    "{left:,} of {limit:,} tokens": "{left:,} von {limit:,} Token",
    "days begin at midnight UTC": "Tage beginnen um Mitternacht UTC",
    "{number:,} token": "{number:,} Token",
    "{number:,} tokens": "{number:,} Token",
    "{number:,} request": "{number:,} Anfrage",
    "{number:,} requests": "{number:,} Anfragen",
    "${cost:,.4f}": "{cost:,.4f} $",
    "+ {number} request of unknown price": "+ {number} Anfrage von unbekanntem Preis",
    "+ {number} requests of unknown price": "+ {number} Anfragen von unbekanntem Preis",
    # Privacy
    "I keep what you write in conversations with me and my answers, in whose threads you write to others, "
    "how far you are in which book, whether you like to see tool calls, and how many tokens you have used. To "
    "answer, your messages go to the model ({provider}); nothing else is done with them.": (
        "Ich bewahre auf, was du in Gesprächen mit mir schreibst, und meine Antworten; in wessen Threads du anderen "
        "schreibst (nicht was); wie weit du in welchem Buch "
        "bist; ob du sehen möchtest, wie ich nachschlage; und wie viele Token du verbraucht hast. Für die Antworten "
        "gehen deine Nachrichten an das Modell ({provider}); sonst geschieht nichts mit ihnen."
    ),
    "Give me a copy": "Gib mir eine Kopie",
    "Erase it all": "Alles löschen",
    "Erase everything? Conversations that are yours alone go with their threads; where others wrote too, what "
    "you wrote goes with the answers to it. Books stay, without your name. It cannot be undone.": (
        "Alles löschen? Gespräche, die nur deine sind, gehen mit ihren Threads; wo auch andere schrieben, geht, was du "
        "geschrieben hast, mit den Antworten darauf. Bücher bleiben, ohne deinen Namen. Rückgängig geht das nicht."
    ),
    "Erased: {messages}, {conversations}, your positions and preferences.": (
        "Gelöscht: {messages}, {conversations}, deine Lesestände und Vorlieben."
    ),
    "{number} message": "{number} Nachricht",
    "{number} messages": "{number} Nachrichten",
    "{number} conversation": "{number} Gespräch",
    "{number} conversations": "{number} Gespräche",
    "{number} thread or message could not be removed from Discord; somebody who manages threads can.": (
        "{number} Thread oder Nachricht war aus Discord nicht zu entfernen; wer Threads verwaltet, kann es."
    ),
    "{number} threads or messages could not be removed from Discord; somebody who manages threads can.": (
        "{number} Threads oder Nachrichten waren aus Discord nicht zu entfernen; wer Threads verwaltet, kann es."
    ),
    # Help
    "Reading with Marginalia": "Lesen mit Marginalia",
    "I answer from a book's own pages, say on which page it stands, and tell nothing from beyond where you are.": (
        "Ich antworte aus den Seiten des Buches, sage, auf welcher es steht, und verrate nichts von dem, was noch vor "
        "dir liegt."
    ),
    "To begin": "Zu Beginn",
    "`/books add` puts a file on the shelf, `/books list` shows what is there.": (
        "`/books add` stellt eine Datei ins Regal, `/books list` zeigt, was dort steht."
    ),
    "`/chat` opens a thread on a book. Ask there; `/chat` again takes up where you were.": (
        "`/chat` öffnet einen Thread über ein Buch. Frage dort; noch einmal `/chat` macht weiter, wo du warst."
    ),
    "`/progress` says how far you have read. Only you move it.": (
        "`/progress` sagt, wie weit du gelesen hast. Nur du änderst das."
    ),
    "In a thread": "In einem Thread",
    "Alone in a thread, just write. In company, mention me or reply to me.": (
        "Allein im Thread schreib einfach. In Gesellschaft erwähne mich oder antworte mir."
    ),
    "Mention me or reply to me: I cannot read other messages here.": (
        "Erwähne mich oder antworte mir: Andere Nachrichten kann ich hier nicht lesen."
    ),
    "Edit a question to have it answered anew, delete it to take it back.": (
        "Bearbeite eine Frage, um sie neu beantwortet zu bekommen; lösche sie, um sie zurückzunehmen."
    ),
    "**Stop**, **Sources** and **Retry** stand under the answers; `/verbose` shows how they were found.": (
        "**Stopp**, **Quellen** und **Nochmal** stehen unter den Antworten; `/verbose` zeigt, wie sie gefunden wurden."
    ),
    "To keep": "Zum Aufheben",
    "`/conversations list`, `rename`, `export`, `delete`: what has been talked about.": (
        "`/conversations list`, `rename`, `export`, `delete`: worüber gesprochen wurde."
    ),
    "`/usage` shows what it costs, `/privacy` what is kept about you.": (
        "`/usage` zeigt, was es kostet, `/privacy`, was über dich aufbewahrt wird."
    ),
    # Permissions and errors
    "View Channels": "Kanäle ansehen",
    "Send Messages": "Nachrichten senden",
    "Send Messages in Threads": "Nachrichten in Threads senden",
    "Create Public Threads": "Öffentliche Threads erstellen",
    "Create Private Threads": "Private Threads erstellen",
    "Manage Threads": "Threads verwalten",
    "Embed Links": "Links einbetten",
    "Attach Files": "Dateien anhängen",
    "Read Message History": "Nachrichtenverlauf anzeigen",
    "I lack permissions here: {permissions}. Somebody who manages this server can give them under "
    "Server Settings → Roles, or in this channel's settings.": (
        "Mir fehlen hier Rechte: {permissions}. Wer diesen Server verwaltet, kann sie mir unter Servereinstellungen → "
        "Rollen oder in den Einstellungen dieses Kanals geben."
    ),
    "Discord does not let me do that here: a permission is missing. Somebody who manages this server can "
    "give it under Server Settings → Roles, or in this channel's settings.": (
        "Discord lässt mich das hier nicht tun: Mir fehlt ein Recht. Wer diesen Server verwaltet, kann es mir unter "
        "Servereinstellungen → Rollen oder in den Einstellungen dieses Kanals geben."
    ),
    "This server has as many open threads as Discord allows. Once some are archived, there is room again.": (
        "Auf diesem Server sind so viele Threads offen, wie Discord erlaubt. Sind einige archiviert, ist wieder Platz."
    ),
    "For this you need: {permissions}.": "Dazu brauchst du: {permissions}.",
    "Use this in a server: books and conversations belong to one.": (
        "Nutze dies auf einem Server: Bücher und Gespräche gehören zu einem."
    ),
    "You may not use this command here.": "Diesen Befehl darfst du hier nicht nutzen.",
    "This command has changed. Please reload Discord (Ctrl+R) and try again in a minute.": (
        "Dieser Befehl hat sich geändert. Bitte lade Discord neu (Strg+R) und versuche es in einer Minute noch einmal."
    ),
    "Discord asks me to wait {seconds} seconds before I do that again.": (
        "Discord bittet mich, {seconds} Sekunden zu warten, bevor ich das noch einmal tue."
    ),
    "Discord has trouble at the moment. Please try again in a minute.": (
        "Discord hat gerade Schwierigkeiten. Bitte versuche es in einer Minute noch einmal."
    ),
    "Something went wrong on my side. It has been logged as {number}; please try again.": (
        "Bei mir ist etwas schiefgegangen. Es ist als {number} vermerkt; bitte versuche es noch einmal."
    ),
}


GERMAN_ANSWERS = {
    "-# 📖 reading …": "-# 📖 lese …",
    "-# ✂ I ran out of room here; ask me to go on.": "-# ✂ Hier ging mir der Platz aus; bitte mich, fortzufahren.",
    "Meanwhile, this is what stands in the book:": "Einstweilen steht dies dazu im Buch:",
    "-# ⏹ Stopped.": "-# ⏹ Angehalten.",
    "-# ⚠ Without a reference: {claim}": "-# ⚠ Ohne Beleg: {claim}",
    "-# ⚠ Without a reference, too: {count} more": "-# ⚠ Auch ohne Beleg: {count} weitere",
    "-# Left out, as it lies further on than you have read: {count}": (
        "-# Ausgelassen, weil es weiter hinten steht, als du gelesen hast: {count}"
    ),
    "This shows more of the book than you have read. /progress says where you are.": (
        "Das zeigt mehr vom Buch, als du gelesen hast. /progress sagt, wo du bist."
    ),
    "This shows more of the book than everybody here has read. “Full trace” shows it to you alone.": (
        "Das zeigt mehr vom Buch, als alle hier gelesen haben. „Alles zeigen“ zeigt es dir allein."
    ),
    "(Left out: this answer was given when more of the book was open than you have read.)": (
        "(Ausgelassen: Diese Antwort entstand, als mehr vom Buch offen war, als du gelesen hast.)"
    ),
    "I may not write in this thread just now. What I have to say is kept, and comes as soon as I may.": (
        "In diesem Thread darf ich gerade nicht schreiben. Was ich zu sagen habe, ist aufgehoben und kommt, sobald ich "
        "darf."
    ),
    "This answer cites nothing from the book.": "Diese Antwort führt nichts aus dem Buch an.",
    "failed": "gescheitert",
    "done": "fertig",
    "no": "keine",
    "passage": "Abschnitt",
    "passages": "Abschnitte",
    "place": "Stelle",
    "places": "Stellen",
    "mention": "Nennung",
    "mentions": "Nennungen",
    "chapter": "Kapitel",
    "chapters": "Kapitel",
    "page": "Seite",
    "pages": "Seiten",
    "proposed": "vorgeschlagen",
    "part": "Teil",
    "parts": "Teile",
    "not mentioned": "nicht genannt",
    "nothing read yet": "noch nichts gelesen",
    "without a summary yet": "noch ohne Zusammenfassung",
    "Arguments": "Argumente",
    "Result": "Ergebnis",
    "Full trace": "Alles zeigen",
    "-# … {count} more characters, in the full trace": "-# … {count} weitere Zeichen, unter „Alles zeigen“",
    "◀ Earlier": "◀ Frühere",
    "Later ▶": "Spätere ▶",
    # Buttons, and what is said to those who press them
    "This button is from an older version of me.": "Dieser Knopf stammt von einer älteren Fassung von mir.",
    "Keep it": "Behalten",
    "Nothing was changed.": "Es wurde nichts geändert.",
    "◀ Back": "◀ Zurück",
    "Next ▶": "Weiter ▶",
    "Stop": "Stopp",
    "Sources": "Quellen",
    "Retry": "Nochmal",
    "-# ⏸ I am being restarted and begin this answer anew in a moment.": (
        "-# ⏸ Ich werde gerade neu gestartet und beginne diese Antwort gleich noch einmal."
    ),
    "I am being restarted and could not finish this. Please do it again in a minute.": (
        "Ich werde gerade neu gestartet und konnte das nicht beenden. Bitte versuch es in einer Minute noch einmal."
    ),
    "⚠️ Discord does not take this answer. /conversations export has it.": (
        "⚠️ Discord nimmt diese Antwort nicht an. In /conversations export steht sie."
    ),
    "I have read to page {page}": "Ich habe bis Seite {page} gelesen",
    "Only {who} can confirm that. Set your own position with /progress.": (
        "Das kann nur {who} bestätigen. Wie weit du selbst gelesen hast, sagst du mit /progress."
    ),
    "This answer is not kept any more. Set your position with /progress.": (
        "Diese Antwort ist nicht mehr aufbewahrt. Wie weit du gelesen hast, sagst du mit /progress."
    ),
    "This answer is not being written any more.": "An dieser Antwort wird nicht mehr geschrieben.",
    "This question is being answered, or has its answer already.": (
        "Diese Frage wird gerade beantwortet oder hat ihre Antwort schon."
    ),
    "This answer is not kept any more, and neither are its sources.": (
        "Diese Antwort ist nicht mehr aufbewahrt, und damit auch ihre Quellen nicht."
    ),
    "These tool calls are not kept any more.": "Diese Werkzeugaufrufe sind nicht mehr aufbewahrt.",
    "Only those who asked, whoever opened this conversation, or somebody with the permission “Manage Threads” can do "
    "that.": (
        "Das können nur die, die gefragt haben, wer dieses Gespräch begonnen hat, oder wer das Recht „Threads "
        "verwalten“ hat."
    ),
    # To messages that are not answered
    "I cannot read this message. Mention me in it, and Discord lets me.": (
        "Diese Nachricht kann ich nicht lesen. Erwähne mich darin, dann lässt Discord mich."
    ),
    "Several of you write here now, so from here on I answer when you mention me or reply to me.": (
        "Hier schreiben jetzt mehrere; von nun an antworte ich, wenn ihr mich erwähnt oder mir antwortet."
    ),
    "To talk about a book, open a thread with /chat. /books list shows what is on the shelf.": (
        "Um über ein Buch zu sprechen, öffne mit /chat einen Thread. /books list zeigt, was im Regal steht."
    ),
    "The conversation of this thread is no longer kept, so nobody answers here. Open a new one with /chat.": (
        "Das Gespräch zu diesem Thread ist nicht mehr gespeichert, darum antwortet hier niemand. "
        "Beginne mit /chat ein neues."
    ),
    "I read books in servers, not in direct messages. Use /chat in a server that we share.": (
        "Ich lese Bücher auf Servern, nicht in Direktnachrichten. Nutze /chat auf einem gemeinsamen Server."
    ),
    "I read text here. To put a book on the shelf, use /books add with the file.": (
        "Hier lese ich Text. Um ein Buch ins Regal zu stellen, nutze /books add mit der Datei."
    ),
    "I read text only: please say in words what you would like to know.": (
        "Ich lese nur Text: Bitte sag in Worten, was du wissen möchtest."
    ),
    "What would you like to know about the book?": "Was möchtest du über das Buch wissen?",
}


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
