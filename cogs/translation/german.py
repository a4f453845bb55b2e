"""German: what the commands answer."""

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
