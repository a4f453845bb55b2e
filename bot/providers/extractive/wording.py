"""The answerer's own words, in the languages it knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.providers.extractive.language import Language


@dataclass(frozen=True, slots=True)
class Phrases:
    """Sentences and lead-ins; `{}` is filled in."""

    found: str
    reason: str
    came_about: str
    no_number: str
    no_time: str
    near: str
    likely: str
    nothing: str
    nothing_yet: str
    greeting: str
    thanks: str
    abilities: str
    position: str
    book: str
    title: str
    no_summary: str
    telling: str
    telling_some: str
    proposed: str
    contents: str
    one_chapter: str
    no_contents: str
    more: str
    goes_on: str
    once: str
    counted: str
    all_in: str
    between: str
    mostly: str
    mostly_there: str
    in_chapter: str
    front: str
    never: str
    page: str
    line: str
    line_similar: str
    no_line: str
    first: str
    last: str
    onward: str
    begins: str
    ends: str
    end_ahead: str
    no_more: str
    failed: str
    no_page: str
    no_chapter: str
    nothing_about: str
    nothing_about_yet: str
    did_you_mean: str
    foreign: str
    opinion: str
    off_topic: str

    @property
    def unsure(self) -> tuple[str, ...]:
        """Lead-ins that say that what follows may not be an answer."""
        return (self.near, self.likely, self.no_number, self.no_time)


_ENGLISH = Phrases(
    found="The book says:",
    reason="This seems to be why:",
    came_about="This is how it came about:",
    no_number="I found no number for that; this comes closest:",
    no_time="I found no time given for that; this comes closest:",
    near="I found no clear answer to that. The nearest I can quote is this:",
    likely="This comes closest:",
    nothing="I found nothing about that in this book.",
    nothing_yet="I found nothing about that in what you have read so far.",
    greeting="Hello! Ask me something about the book, and I will look for the sentences that answer it.",
    thanks="You’re welcome. Ask me anything else about the book.",
    abilities=(
        "I am the built-in answerer: I search the book and quote the sentences that answer, with their pages. Ask"
        " me who, what, where, when, why or how many; how often a word or name appears, and where first; where to find "
        "a half-remembered line; what the chapters are; or what is on a page. I do not summarise or interpret: for "
        "that, connect a language model. /progress tells me how far you have read, and /help shows the rest."
    ),
    position="Set your page or chapter with /progress, or say you have finished; then I’ll keep to what you have read.",
    book="This is “{}” by {}.",
    title="This is “{}”. I don’t know who wrote it.",
    no_summary="I can only quote the book, not sum it up or interpret it.",
    telling="These sentences tell much of it:",
    telling_some="These sentences from {} of {} chapters tell much of it:",
    proposed="If you confirm it, I’ll use that page from your next message on.",
    contents="I can see {} chapters:",
    one_chapter="I can see one chapter:",
    no_contents="I’ve found no chapters in this book so far.",
    more="… and {} more.",
    goes_on="The page goes on.",
    once="“{}” appears once so far:",
    counted="“{}” appears {} times so far",
    all_in=", all {}",
    between=": first {}, last {}",
    mostly=", most often {} ({} times)",
    mostly_there=" (most often there: {} times)",
    in_chapter="in “{}”",
    front="before the first chapter",
    never="“{}” hasn’t appeared so far.",
    page="The page reads:",
    line="Here it is:",
    line_similar="Not in these very words, but there is this:",
    no_line="I found no line like that.",
    first="For the first time:",
    last="For the last time:",
    onward="The book goes on:",
    begins="It begins:",
    ends="It ends:",
    end_ahead="The end lies ahead of what you have read, so I won’t tell it.",
    no_more="That’s as far as I can read from there.",
    failed="I couldn’t look that up just now. Please try again.",
    no_page="I can’t find that page in what you can read here.",
    no_chapter="I can’t find that chapter in what you can read here.",
    nothing_about="I found nothing about {} in this book.",
    nothing_about_yet="I found nothing about {} in what you have read so far.",
    did_you_mean="I found no *{}*. Did you mean *{}*?",
    foreign="The book is in another language, so I could only look for the names in your question.",
    opinion="I have no opinion of my own: I can only quote the book.",
    off_topic="I can only answer from this book, and that does not seem to be about it.",
)
_GERMAN = Phrases(
    found="Im Buch steht:",
    reason="Wohl deshalb:",
    came_about="So kam es dazu:",
    no_number="Eine Zahl dazu habe ich nicht gefunden; am nächsten kommt dies:",
    no_time="Eine Zeitangabe dazu habe ich nicht gefunden; am nächsten kommt dies:",
    near="Eine klare Antwort habe ich nicht gefunden. Am nächsten kommt dies:",
    likely="Am nächsten kommt dies:",
    nothing="Dazu habe ich in diesem Buch nichts gefunden.",
    nothing_yet="Dazu habe ich in dem, was du bisher gelesen hast, nichts gefunden.",
    greeting="Hallo! Frag mich etwas zum Buch, und ich suche die Sätze, die darauf antworten.",
    thanks="Gern geschehen. Frag ruhig weiter.",
    abilities=(
        "Ich bin der eingebaute Antworter: Ich durchsuche das Buch und zitiere die Sätze, die antworten, mit "
        "Seite. Frag mich wer, was, wo, wann, warum oder wie viele; wie oft ein Wort oder Name vorkommt und wo "
        "zuerst; wo eine halb erinnerte Zeile steht; welche Kapitel es gibt; oder was auf einer Seite steht. "
        "Zusammenfassen und deuten kann ich nicht: Dafür lässt sich ein Sprachmodell anschließen. Mit /progress sagst "
        "du mir, wie weit du bist, und /help zeigt den Rest."
    ),
    position="Stell mit /progress deine Seite ein, ein Kapitel oder dass du fertig bist; ich halte mich dann daran.",
    book="Das ist „{}“ von {}.",
    title="Das ist „{}“. Wer es geschrieben hat, weiß ich nicht.",
    no_summary="Ich kann aus dem Buch nur zitieren, nicht zusammenfassen oder deuten.",
    telling="Diese Sätze erzählen viel davon:",
    telling_some="Diese Sätze aus {} von {} Kapiteln erzählen viel davon:",
    proposed="Wenn du es bestätigst, halte ich mich ab deiner nächsten Nachricht daran.",
    contents="Ich sehe {} Kapitel:",
    one_chapter="Ich sehe ein Kapitel:",
    no_contents="Bisher habe ich in diesem Buch keine Kapitel gefunden.",
    more="… und {} weitere.",
    goes_on="Die Seite geht noch weiter.",
    once="„{}“ kommt bisher einmal vor:",
    counted="„{}“ kommt bisher {}-mal vor",
    all_in=", immer {}",
    between=": zuerst {}, zuletzt {}",
    mostly=", am häufigsten {} ({}-mal)",
    mostly_there=" (dort am häufigsten: {}-mal)",
    in_chapter="in „{}“",
    front="vor dem ersten Kapitel",
    never="„{}“ kommt bisher nicht vor.",
    page="Dort steht:",
    line="Hier ist es:",
    line_similar="Nicht genau in diesen Worten, aber es gibt dies:",
    no_line="Eine solche Zeile habe ich nicht gefunden.",
    first="Zum ersten Mal:",
    last="Zum letzten Mal:",
    onward="Im Buch geht es weiter:",
    begins="So fängt es an:",
    ends="So endet es:",
    end_ahead="Das Ende liegt noch vor dir, deshalb verrate ich es nicht.",
    no_more="Weiter kann ich von dort aus nicht lesen.",
    failed="Das konnte ich gerade nicht nachschlagen. Versuch es bitte noch einmal.",
    no_page="Diese Seite finde ich hier nicht.",
    no_chapter="Dieses Kapitel finde ich hier nicht.",
    nothing_about="Über {} habe ich in diesem Buch nichts gefunden.",
    nothing_about_yet="Über {} habe ich in dem, was du bisher gelesen hast, nichts gefunden.",
    did_you_mean="*{}* habe ich nicht gefunden. Meinst du *{}*?",
    foreign="Das Buch ist in einer anderen Sprache; ich konnte nur nach den Namen in deiner Frage suchen.",
    opinion="Eine eigene Meinung habe ich nicht: Ich kann nur aus dem Buch zitieren.",
    off_topic="Ich kann nur aus diesem Buch antworten, und darum scheint es hier nicht zu gehen.",
)
_FRENCH = Phrases(
    found="Le livre dit :",
    reason="Voici sans doute pourquoi :",
    came_about="Voici comment c’est arrivé :",
    no_number="Je n’ai pas trouvé de nombre ; voici ce qui s’en approche le plus :",
    no_time="Je n’ai pas trouvé de moment précis ; voici ce qui s’en approche le plus :",
    near="Je n’ai pas trouvé de réponse claire. Voici ce qui s’en approche le plus :",
    likely="Voici ce qui s’en approche le plus :",
    nothing="Je n’ai rien trouvé à ce sujet dans ce livre.",
    nothing_yet="Je n’ai rien trouvé à ce sujet dans ce que vous avez lu jusqu’ici.",
    greeting="Bonjour ! Posez-moi une question sur le livre, et je cherche les phrases qui y répondent.",
    thanks="Je vous en prie. Continuez à poser vos questions.",
    abilities=(
        "Je suis le répondeur intégré : je cherche dans le livre et je cite les phrases qui répondent, avec leur "
        "page. Demandez-moi qui, quoi, où, quand, pourquoi ou combien ; combien de fois un mot ou un nom apparaît"
        " et où d’abord ; où se trouve une phrase dont vous vous souvenez à moitié ; quels sont les chapitres ; "
        "ou ce qu’il y a sur une page. Je ne résume pas et je n’interprète pas : pour cela, on peut brancher un "
        "modèle de langue. Dites-moi où vous en êtes avec /progress ; /help montre le reste."
    ),
    position="Indiquez votre page ou votre chapitre avec /progress ; je m’en tiendrai à ce que vous avez lu.",
    book="C’est «{}» de {}.",
    title="C’est «{}». Je ne sais pas qui l’a écrit.",
    no_summary="Je ne peux que citer le livre, pas le résumer ni l’interpréter.",
    telling="Ces phrases en disent beaucoup :",
    telling_some="Ces phrases, tirées de {} chapitres sur {}, en disent beaucoup :",
    proposed="Si vous le confirmez, je m’y tiens dès votre prochain message.",
    contents="Je vois {} chapitres :",
    one_chapter="Je vois un chapitre :",
    no_contents="Je n’ai pas trouvé de chapitres dans ce qui peut être lu de ce livre.",
    more="… et {} autres.",
    goes_on="La page continue.",
    once="«{}» apparaît une fois dans ce qui peut être lu :",
    counted="«{}» apparaît {} fois dans ce qui peut être lu",
    all_in=", toujours {}",
    between=" : d’abord {}, en dernier {}",
    mostly=", le plus souvent {} ({} fois)",
    mostly_there=" (là le plus souvent : {} fois)",
    in_chapter="dans «{}»",
    front="avant le premier chapitre",
    never="«{}» n’apparaît pas dans ce qui peut être lu.",
    page="On y lit :",
    line="Cela se trouve ici :",
    line_similar="Pas exactement en ces termes, mais il y a ceci :",
    no_line="Je n’ai pas trouvé de phrase semblable.",
    first="Pour la première fois :",
    last="Pour la dernière fois :",
    onward="Le livre continue :",
    begins="Voici le début :",
    ends="Voici la fin :",
    end_ahead="La fin vous attend encore : je ne la raconte pas.",
    no_more="Je ne peux pas lire plus loin à partir de là.",
    failed="Je n’ai pas pu le chercher. Réessayez, s’il vous plaît.",
    no_page="Je ne trouve pas cette page ici.",
    no_chapter="Je ne trouve pas ce chapitre ici.",
    nothing_about="Je n’ai rien trouvé sur {} dans ce livre.",
    nothing_about_yet="Je n’ai rien trouvé sur {} dans ce que vous avez lu jusqu’ici.",
    did_you_mean="Je n’ai pas trouvé *{}*. Vouliez-vous dire *{}* ?",
    foreign="Le livre est dans une autre langue ; je n’ai pu chercher que les noms de votre question.",
    opinion="Je n’ai pas d’avis : je ne peux que citer le livre.",
    off_topic="Je ne peux répondre qu’à partir de ce livre, et cela ne semble pas en faire partie.",
)
_SPANISH = Phrases(
    found="El libro dice:",
    reason="Parece que fue por esto:",
    came_about="Así fue como sucedió:",
    no_number="No encontré ningún número; esto es lo más cercano:",
    no_time="No encontré ningún momento preciso; esto es lo más cercano:",
    near="No encontré una respuesta clara. Lo más cercano que puedo citar es esto:",
    likely="Lo más cercano es esto:",
    nothing="No encontré nada sobre eso en este libro.",
    nothing_yet="No encontré nada sobre eso en lo que has leído hasta ahora.",
    greeting="¡Hola! Pregúntame algo sobre el libro y buscaré las frases que lo responden.",
    thanks="De nada. Pregunta cuando quieras.",
    abilities=(
        "Soy el respondedor incorporado: busco en el libro y cito las frases que responden, con su página. "
        "Pregúntame quién, qué, dónde, cuándo, por qué o cuántos; cuántas veces aparece una palabra o un nombre y"
        " dónde primero; dónde está una frase que recuerdas a medias; qué capítulos hay; o qué hay en una página."
        " No resumo ni interpreto: para eso se puede conectar un modelo de lenguaje. Con /progress me dices hasta "
        "dónde has leído; /help muestra lo demás."
    ),
    position="Indica tu página o tu capítulo con /progress; me limitaré a lo que has leído.",
    book="Es «{}», de {}.",
    title="Es «{}». No sé quién lo escribió.",
    no_summary="Solo puedo citar el libro, no resumirlo ni interpretarlo.",
    telling="Estas frases cuentan mucho de ello:",
    telling_some="Estas frases, de {} de los {} capítulos, cuentan mucho de ello:",
    proposed="Si lo confirmas, me atendré a esa página desde tu próximo mensaje.",
    contents="Veo {} capítulos:",
    one_chapter="Veo un capítulo:",
    no_contents="No encontré capítulos en lo que se puede leer de este libro.",
    more="… y {} más.",
    goes_on="La página continúa.",
    once="“{}” aparece una vez en lo que se puede leer:",
    counted="“{}” aparece {} veces en lo que se puede leer",
    all_in=", siempre {}",
    between=": primero {}, por último {}",
    mostly=", sobre todo {} ({} veces)",
    mostly_there=" (allí más que en ningún otro: {} veces)",
    in_chapter="en “{}”",
    front="antes del primer capítulo",
    never="“{}” no aparece en lo que se puede leer.",
    page="Allí dice:",
    line="Está aquí:",
    line_similar="No con estas palabras exactas, pero hay esto:",
    no_line="No encontré ninguna frase así.",
    first="Por primera vez:",
    last="Por última vez:",
    onward="El libro continúa:",
    begins="Empieza así:",
    ends="Termina así:",
    end_ahead="El final aún está por delante de lo que has leído, así que no lo cuento.",
    no_more="No puedo leer más allá desde ahí.",
    failed="No pude buscarlo. Inténtalo de nuevo, por favor.",
    no_page="No encuentro esa página aquí.",
    no_chapter="No encuentro ese capítulo aquí.",
    nothing_about="No encontré nada sobre {} en este libro.",
    nothing_about_yet="No encontré nada sobre {} en lo que has leído hasta ahora.",
    did_you_mean="No encontré *{}*. ¿Quisiste decir *{}*?",
    foreign="El libro está en otro idioma; solo pude buscar los nombres de tu pregunta.",
    opinion="No tengo opinión propia: solo puedo citar el libro.",
    off_topic="Solo puedo responder a partir de este libro, y eso no parece tratar de él.",
)

PHRASES: dict[Language, Phrases] = {
    Language.ENGLISH: _ENGLISH,
    Language.GERMAN: _GERMAN,
    Language.FRENCH: _FRENCH,
    Language.SPANISH: _SPANISH,
}


_MOST_COUNTED = 40
"""Up to this many chapters, first and last occurrences are told as well as the chapter with the most."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a term occurs in total and in each chapter, in order; number 0 is the text before the first chapter."""

    total: int
    chapters: Sequence[Mapping[str, Any]]

    def sentence(self, term: str, phrases: Phrases) -> str:
        return f"{phrases.counted.format(term, f'{self.total:,}')}{self._where(phrases)}."

    def _where(self, phrases: Phrases) -> str:
        if not any(each["number"] for each in self.chapters):
            return ""
        if len(self.chapters) > _MOST_COUNTED:
            return self._most(phrases)
        if len(self.chapters) == 1:
            return phrases.all_in.format(_place(self.chapters[0], phrases))
        ends = (self.chapters[0], self.chapters[-1])
        between = phrases.between.format(*(self._end(each, phrases) for each in ends))
        return between if self._top in ends else between + self._most(phrases)

    def _end(self, chapter: Mapping[str, Any], phrases: Phrases) -> str:
        there = phrases.mostly_there.format(chapter["count"]) if chapter is self._top else ""
        return _place(chapter, phrases) + there

    def _most(self, phrases: Phrases) -> str:
        top = self._top
        return phrases.mostly.format(_place(top, phrases), top["count"]) if top else ""

    @property
    def _top(self) -> Mapping[str, Any] | None:
        """The chapter with the most mentions; None if several share the first place."""
        most = max(each["count"] for each in self.chapters)
        first, *others = [each for each in self.chapters if each["count"] == most]
        return None if others else first


def tally_of(data: Mapping[str, Any] | None) -> Tally | None:
    """The counts in a result of `count_mentions`, if it has any."""
    return Tally(data["total"], data["chapters"]) if data else None


def _place(chapter: Mapping[str, Any], phrases: Phrases) -> str:
    return phrases.in_chapter.format(chapter["title"]) if chapter["number"] else phrases.front
