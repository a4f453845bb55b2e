"""German: what stands in and under answers."""

GERMAN_ANSWERS = {
    "-# 📖 reading …": "-# 📖 lese …",
    "-# ✂ I ran out of room here; ask me to go on.": "-# ✂ Hier ging mir der Platz aus; bitte mich, fortzufahren.",
    "-# ⏹ Stopped.": "-# ⏹ Angehalten.",
    "This answer cites nothing from the book.": "Diese Antwort führt nichts aus dem Buch an.",
    "Arguments": "Argumente",
    "Result": "Ergebnis",
    "Full trace": "Alles zeigen",
    "-# … {count} more characters, in the full trace": "-# … {count} weitere Zeichen, unter „Alles zeigen“",
    "◀ Earlier": "◀ Frühere",
    "Later ▶": "Spätere ▶",
}
