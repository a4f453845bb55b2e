"""German: what stands in and under answers."""

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
