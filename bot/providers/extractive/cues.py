"""Signs in a sentence that it holds an answer of some kind: a number, a time, a place, a reason, a feeling, speech."""

import re
from dataclasses import dataclass

from bot.providers.extractive.language import Language


@dataclass(frozen=True, slots=True)
class Cues:
    """Patterns to search a sentence for, in one language.

    `unit` is what lengths, weights, ages and times are measured in. `reason` joins a cause to what it causes within the
    sentence; `because` is the weaker "for" and "as" of older books; `purpose` is a wish, an aim or a measure; `hence`
    opens a sentence whose cause stands before it. `naming` introduces a person or thing.
    """

    number: re.Pattern[str]
    unit: re.Pattern[str]
    time: re.Pattern[str]
    place: re.Pattern[str]
    reason: re.Pattern[str]
    because: re.Pattern[str]
    purpose: re.Pattern[str]
    hence: re.Pattern[str]
    feeling: re.Pattern[str]
    speech: re.Pattern[str]
    naming: re.Pattern[str]


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


def _opening(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"^\W{{0,3}}(?:{'|'.join(alternatives)})\b")


_PLACE = r"(?:the|an?|his|her|their|its|this|that|my|our|your|some|[A-Z]\w+)\b"

_ENGLISH = Cues(
    number=_words(
        r"\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh"
        r"|nine)teen",
        r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\w+)?|hundreds?|thousands?|millions?|dozens?|scores?|half"
        r"|several",
        r"both|twice|thrice|once|pair|couple|none",
    ),
    unit=_words(
        r"miles?|foot|feet|inch(?:es)?|yards?|fathoms?|leagues?|acres?|(?:kilo|centi|milli)?met(?:er|re)s?|pounds?"
        r"|ounces?|tons?",
        r"years?(?: old| of age)?|months?|weeks?|days?|nights?|hours?|minutes?|seconds?|centuries|times|degrees|paces"
        r"|gallons?",
    ),
    time=_words(
        r"when|while|as soon as|after|before|until|till|then|(?:one|next|that|every|all) (?:day|night|morning|evening)",
        r"mornings?|evenings?|nights?|noon|midnight|days?|weeks?|months?|years?|o['’]clock|hours?|minutes?|spring"
        r"|summer",
        r"autumn|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august"
        r"|september",
        r"october|november|december|yesterday|to-?day|to-?morrow|century|ages?|\d{4}",
    ),
    place=re.compile(
        r"\b(?:in|into|at|on|upon|under|beneath|behind|near|by|beside|over|to|from|through|inside|within|before|below"
        r"|above"
        rf"|towards?|across|along|among|between|out of) {_PLACE}"
    ),
    reason=_words(
        r"because|since|for fear|owing to|on (?:that )?account|the reason|therefore|so that|in order|lest|thus"
    ),
    because=re.compile(r"[,;:—-]\s*for\b|(?:^|[.!?]\s+\W?)For\b|,\s*(?:as|so)\b|^\W?(?:As|So)\b"),
    purpose=_words(
        r"so \w+ (?:that|as)|too \w+ to|wish(?:ed|es)?|want(?:ed|s)?|desire[ds]?|afraid|fear(?:ed|s)?|hop(?:e|ed|ing)"
    ),
    hence=_opening("So", "Therefore", "Then", "Thus", "Hence", "That is why"),
    feeling=_words(
        r"happ\w+|sad\w*|glad\w*|joy\w*|angr\w+|anger|afraid|fear\w*|fright\w+|scar(?:ed?|y)|surpris\w+|astonish\w+"
        r"|amaz\w+",
        r"delight\w*|pleas\w+|proud\w*|pride|jealous\w*|env[iy]\w*|griev\w*|grief|sorrow\w*|weep\w*|wept|cried|cry\w*"
        r"|tears?",
        r"laugh\w*|smil\w+|lov(?:e\w*|ing)|hat(?:e[ds]?|red)|asham\w+|shame\w*|lonel\w+|worr\w+|anxi\w+|trembl\w+"
        r"|terr\w+",
        r"horr\w+|rage|fur(?:y|ious\w*)|wrath\w*|miser\w+|unhapp\w*|content\w*|satisf\w+|disappoint\w+|grateful\w*"
        r"|thank\w*",
        r"hop(?:e\w*|ing)|despair\w*|curio\w+|tired|weary|hungry|sorry|pit(?:y|ied)|cheer\w*|merr\w+|excit\w+"
        r"|embarrass\w+",
        r"heart\w*|troubl\w+|vex\w+|wonder\w*|regret\w*|enraged|shy|uneasy|calm\w*|nervous\w*|shock\w+|reliev\w+"
        r"|relief",
    ),
    speech=re.compile(
        r"\b(?:sa(?:id|ys?)|asked|answered|replied|cried|called|told|exclaimed|shouted|whispered|thought)\b|[\"“«„「]",
        re.IGNORECASE,
    ),
    naming=_words(r"named|called|names? (?:was|is)|known as|(?:was|were|is|are|am) an?|(?:was|is|am) the|who"),
)

_GERMAN = Cues(
    number=_words(
        r"\d[\d,.]*|eine[rsmn]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zehn|\w+z?ig|hundert\w*"
        r"|tausend\w*",
        r"dutzend|halb\w*|beide\w*|zweimal|einmal|paar",
    ),
    unit=_words(
        r"meilen?|fuß|zoll|ellen?|(?:kilo|zenti)?metern?|pfund|zentner|tonnen?|jahren?|jahre alt|monaten?|wochen?"
        r"|tagen?|nächten?",
        r"stunden?|minuten?|sekunden?|mal|schritten?|grad",
    ),
    time=_words(
        r"als|während|nachdem|bevor|bis|dann|tage?s?|nachts?|morgens?|abends?|mittags?|mitternacht|wochen?|monate?n?"
        r"|jahre?n?s?",
        r"uhr|stunden?|minuten?|frühling|sommer|herbst|winter|\w+tag|januar|februar|märz|april|mai|juni|juli|august"
        r"|september",
        r"oktober|november|dezember|gestern|heute|\d{4}",
    ),
    place=re.compile(
        r"\b(?:in|im|ins|am|an|auf|unter|hinter|neben|bei|beim|über|zum?|zur|aus|nach|vor|durch|zwischen) \w+"
    ),
    reason=_words("weil", "denn", "da", "damit", "deshalb", "darum", "daher", "deswegen", "um", "wegen"),
    because=re.compile(r",\s*(?:denn|da)\b|^\W?Da\b"),
    purpose=_words("wollte", "wollten", "will", "möchte", "wünschte", "fürchtete", "angst", "hoffte", "zu"),
    hence=_opening("So", "Darum", "Deshalb", "Daher", "Also", "Da"),
    feeling=_words(
        r"froh\w*|fröhlich\w*|traurig\w*|glücklich\w*|freu\w+|zorn\w*|wüten\w+|böse|angst|fürcht\w+|erschr[ao]ck\w*"
        r"|erstaun\w+"
        r"|wunder\w+|stolz\w*|neid\w*|eifersücht\w*|wein\w+|tränen|lach\w+|lächel\w+|lieb\w*|ha(?:ss|ß)\w*|scham"
        r"|schäm\w+"
        r"|einsam\w*|zitter\w+|entsetz\w+|müde|herz\w*|sorge\w*|zufrieden\w*|verzweif\w+"
    ),
    speech=re.compile(
        r"\b(?:sagte|fragte|antwortete|rief|sprach|erwiderte|dachte|erzählte|meinte)\b|[\"“«»„]", re.IGNORECASE
    ),
    naming=_words("namens", "genannt", "hieß", "heißt", "(?:war|ist) (?:ein|eine|der|die|das)"),
)

_FRENCH = Cues(
    number=_words(
        r"\d[\d,.]*|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix\w*|onze|douze|treize|quatorze|quinze|seize"
        r"|vingt\w*|trente",
        r"quarante|cinquante|soixante|cents?|mille|douzaine|moitié|plusieurs|fois",
    ),
    unit=_words(
        r"lieues?|pieds?|pouces?|toises?|(?:kilo|centi)?mètres?|livres?|tonnes?|ans?|années?|mois|semaines?|jours?"
        r"|nuits?|heures?",
        r"minutes?|secondes?|fois|pas|degrés",
    ),
    time=_words(
        r"quand|lorsque?|pendant|après|avant|puis|alors|jours?|nuits?|matins?|soirs?|midi|minuit|semaines?|mois"
        r"|an(?:née)?s?|heures?",
        r"minutes?|printemps|été|automne|hiver|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février"
        r"|mars|avril|mai",
        r"juin|juillet|août|septembre|octobre|novembre|décembre|hier|demain|\d{4}",
    ),
    place=re.compile(
        r"\b(?:dans|en|à|au|aux|sur|sous|derrière|devant|chez|près d[eu]|vers|entre|par|jusqu['’]à?) ?\w+"
    ),
    reason=_words(r"parce qu\w*|car|puisque?|afin|à cause|pour que|c['’]est pourquoi|donc|de peur"),
    because=re.compile(r",\s*(?:car|comme)\b|^\W?Comme\b"),
    purpose=_words(r"pour \w+er|voul\w+|désir\w+|craign\w+|peur|espér\w+"),
    hence=_opening("Ainsi", "Alors", "Donc", "Aussi", "C['’]est pourquoi"),
    feeling=_words(
        r"heureu\w+|triste\w*|joie|joyeu\w+|colère|furieu\w+|peur|effray\w+|surpris\w*|étonn\w+|fi[eè]re?s?|jalou\w+"
        r"|pleur\w+"
        r"|larmes?|rire?s?|riait|souri\w+|aim\w+|amour|haï\w*|haine|honte\w*|seule?|trembl\w+|horreur|désespoir"
        r"|content\w*|cœur"
        r"|inqui\w+|fatigué\w*|chagrin"
    ),
    speech=re.compile(r"\b(?:dit|demanda|répondit|cria|s['’]écria|pensa|raconta|murmura)\b|[\"“«»]|^—", re.IGNORECASE),
    naming=_words(r"nommée?|appelée?|s['’]appel\w+|(?:était|est) (?:une?|le|la)"),
)

_SPANISH = Cues(
    number=_words(
        r"\d[\d,.]*|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci\w+"
        r"|veint\w+|treinta",
        r"cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien\w*|mil|docena|mitad|varios|ambos|vez|veces",
    ),
    unit=_words(
        r"millas?|leguas?|pies|pulgadas?|varas?|(?:kiló|centí)?metros?|libras?|toneladas?|años?|mes(?:es)?|semanas?"
        r"|días?|noches?",
        r"horas?|minutos?|segundos?|veces|pasos|grados",
    ),
    time=_words(
        r"cuando|mientras|después|antes|hasta|entonces|días?|noches?|mañanas?|tardes?|mediodía|medianoche|semanas?"
        r"|mes(?:es)?|años?",
        r"horas?|minutos?|primavera|verano|otoño|invierno|lunes|martes|miércoles|jueves|viernes|sábado|domingo|enero"
        r"|febrero",
        r"marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|ayer|hoy|\d{4}",
    ),
    place=re.compile(r"\b(?:en|al?|sobre|bajo|detrás de|delante de|junto a|cerca de|hacia|entre|por|desde|hasta) \w+"),
    reason=_words(r"porque|pues|ya que|puesto que|para que|a causa|por eso|por lo tanto|a fin de"),
    because=re.compile(r",\s*(?:pues|como)\b|^\W?Como\b"),
    purpose=_words(r"para \w+r|quer\w+|quis\w+|dese\w+|temí\w+|miedo|esper\w+"),
    hence=_opening("Así", "Entonces", "Por eso", "Por lo tanto"),
    feeling=_words(
        r"feli\w+|triste\w*|alegr\w+|content\w*|enojad\w+|enfad\w+|furi\w+|miedo|tem\w+|asust\w+|sorprend\w+"
        r"|asombr\w+|orgullo\w*"
        r"|celos\w*|envidia\w*|llor\w+|lágrimas?|r[eií]\w{0,4}|sonr\w+|am(?:a\w*|or)|odi\w+|vergüenza|avergonz\w+"
        r"|temblo?\w+|horror"
        r"|desesper\w+|coraz\w+|preocup\w+|cansad\w+|tristeza|solo|sola"
    ),
    speech=re.compile(r"\b(?:dijo|preguntó|respondió|contestó|gritó|exclamó|pensó|contó)\b|[\"“«]|^—", re.IGNORECASE),
    naming=_words(r"llamad[oa]|se llama\w*|(?:era|es) (?:una?|el|la)"),
)

CUES: dict[Language, Cues] = {
    Language.ENGLISH: _ENGLISH,
    Language.GERMAN: _GERMAN,
    Language.FRENCH: _FRENCH,
    Language.SPANISH: _SPANISH,
}
