"""Languages: which one a book is written in, and how its words are compared: stems, spellings, stop words.

Function words (articles, pronouns, prepositions, auxiliaries) make up a third to a half of any running text, and each
language has its own. They identify the language; in a query they carry no meaning. Stemming algorithms are not part of
the domain: the code that opens a book passes one in.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from domain.book import BookText
from domain.library.search.words import (
    STEMS_REMEMBERED,
    STOP_WORDS,
    fold,
    stem_of,
    without_possessive,
    words_of,
)

LANGUAGES = {
    "ar": "arabic ara", "ca": "catalan cat", "cs": "czech cze ces", "da": "danish dan", "de": "german ger deu",
    "el": "greek gre ell", "en": "english eng", "eo": "esperanto epo", "es": "spanish spa", "et": "estonian est",
    "eu": "basque baq eus", "fa": "persian per fas", "fi": "finnish fin", "fr": "french fre fra", "ga": "irish gle",
    "hi": "hindi hin", "hu": "hungarian hun", "hy": "armenian arm hye", "id": "indonesian ind", "it": "italian ita",
    "lt": "lithuanian lit", "ne": "nepali nep", "nl": "dutch dut nld", "no": "norwegian nor nb nob nn nno",
    "pl": "polish pol", "pt": "portuguese por", "ro": "romanian rum ron", "ru": "russian rus",
    "sr": "serbian srp hr hrv bs bos", "st": "sesotho sot", "sv": "swedish swe", "ta": "tamil tam", "tr": "turkish tur",
    "yi": "yiddish yid ji",
}  # fmt: skip
"""The languages whose words are searched by stem: ISO 639-1 code to the English name and further codes."""

_COMPOUNDING = frozenset(("da", "de", "nl", "no", "sv"))
"""Languages that write two nouns as one word."""

_FUNCTION_WORDS = {
    "ar": """
        في من على إلى عن أن إن لا ما لم لن قد كان كانت هذا هذه ذلك تلك التي الذي الذين هو هي هم أنا نحن أنت كل بعد قبل
        ثم أو مع بين حتى إذا لكن كما عند منه فيه به له لها لهم عليه إليه وهو وهي أي هل كيف أين متى لماذا ماذا فقال
    """,
    "ca": """
        el la els les un una uns unes de del dels a al als en amb per que i o no és era són ha han va van es em et li
        els hi ho això aquest aquesta aquell aquella seu seva seus seves meu meva més molt però com quan on qui què
        perquè si tot tots totes també ja ni sense fins sobre entre havia estava ser fer jo tu ell ella nosaltres
    """,
    "cs": """
        a i že se si je byl byla bylo byli jsem jsi jsme jste jsou na v ve z ze s k ke do od po za o u pro při před
        který která které co kdo kde kdy jak proč ale nebo když aby jako ten ta to ty jeho její jejich můj tvůj já on
        ona oni my vy tak už jen ani by není mu ho ji jí mi nám více také což nic všichni všechno všechny všech tento
        tato toto této tím tom tam tu nebyl vám nás vás jim
    """,
    "da": """
        og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi min havde ham hun
        nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være
        noget havde hendes efter ned denne dette disse hvem hvorfor hvordan hvornår hvilken hvilket også blive været
        dog
    """,
    "de": """
        aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist da dabei damit dann das
        dass daß dazu dein deine deinem deinen deiner dem den denn der des dessen deren dich die dies diese diesem
        diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure für
        gegen gehabt hab habe haben habt hast hat hatte hatten hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren
        ihrer im in ins ist ja jede jedem jeden jeder jedes jene jener kann kein keine keinem keinen keiner können
        könnte konnte man manche mein meine meinem meinen meiner mich mir mit muß muss mußte musste nach nicht nichts
        noch nun nur ob oder ohne schon sehr sei sein seine seinem seinen seiner sich sie sind so solche soll sollte
        sondern über um und uns unser unsere unter vom von vor während war waren warst warum was weil welche welchem
        welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel will wir wird wo
        woher wohin wollen wollte worden wurde wurden würde zu zum zur zwar zwischen
    """,
    "el": """
        και το να του η της με που την από για τα στο ο τον τη τις οι των σε θα δεν ότι στη στην είναι ήταν τους μου
        σου μας σας αλλά αν ως κι μια ένα ένας μία είχε είπε αυτό αυτός αυτή όταν τι ποιος πού πώς πως γιατί μη δε σαν
        ή πια πολύ όλα εγώ εσύ εκείνος μόνο
    """,
    "eo": """
        la kaj de en al ne mi vi li ŝi ĝi ni ili estas estis esti ke kiu kio kie kiam kiel kial por kun per el pri sed
        tiu tio tiel tie ĉu ĉi tre pli nur jam ankaŭ aŭ se sia lia ŝia mia via oni dum ĝis post antaŭ sur sub iu io
    """,
    "es": """
        a al algo ante antes así aun aún aunque cada como cómo con contra cual cuál cuales cuando cuándo cuanta
        cuantas cuanto cuánto cuántos cuántas de del desde donde dónde dos e el él ella ellas ello ellos en entre era
        eran eres es esa esas ese eso esos esta está estaba estaban estado estar estas estás este esto estos fue
        fueron fui ha había habían haber hacia han has hasta hay he la las le les lo los más me mi mí mis mientras
        mucho muy nada ni no nos nosotros o os otra otras otro otros para pero poco por porque pues que qué quien
        quién quienes se sea ser si sí sido sin sobre solo sólo son soy su sus también tan tanto te tenía tiene toda
        todas todo todos tu tú tus un una unas uno unos vosotros vuestra vuestro y ya yo
    """,
    "et": """
        ja on ei et ta see oli ma kui ka mis ning oma aga seda siis kes nii mu tema selle mida need nad sa me te olid
        ole olen või juba veel kus miks kuidas millal välja üles pole enam teda talle end ennast
    """,
    "eu": """
        eta da ez ere bat zen du dute zuen zituen izan dira baina hau hori hura bere nire zure gure ni zu gu haiek zer
        nor non noiz nola zergatik baino oso egin zuten ziren dago edo bai beste guztiak gabe dut naiz
    """,
    "fa": """
        و در به از که این آن را با است بود برای تا هم یک بر او ما من شما آنها نه اما اگر یا هر چه کجا کی چرا چگونه شد
        شده می نمی کرد کرده دارد خود ای هیچ پس بودند کند گفت باید همه
    """,
    "fi": """
        ja on ei että oli hän se en ne mutta niin kun kuin joka jos sen hänen minä sinä me te he olen ole olla ovat
        olivat myös vain nyt sitten jo mitä mikä kuka missä milloin miksi miten tai vaan häntä minun sinun hänelle
        tämä tuo nämä nuo jotka jonka kaikki hyvin enää vielä siitä siinä
    """,
    "fr": """
        a à ai ainsi alors après as au aucun aucune aussi autre aux avaient avais avait avant avec avez avoir avons
        ayant bien c car ce ceci cela celle celles celui ces cet cette ceux chez comme comment combien d dans de des
        deux donc dont du elle elles en encore entre es est et étaient étais était étant été êtes être eu eut eux
        faire fait furent fut il ils j je jusqu l la là laquelle le lequel les lesquels leur leurs lorsqu lorsque lui
        m ma mais me même mêmes mes moi moins mon n ne ni nos notre nous on ont ou où par parce pas pendant peu plus
        pour pourquoi puis puisque qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soi son
        sont sous suis sur t ta tandis te tes toi ton tous tout toute toutes très tu un une vers voici voilà vos votre
        vous y
    """,
    "ga": """
        agus an na a ar i go ní is bhí sé sí mé tú siad le do ag ach nach leis tá sin seo gur ba ó faoi chun mar níor
        raibh bhfuil cad cá conas cén cé aon sa san den don féin orm air aige
    """,
    "hi": """
        के का की है और में से को ने पर यह वह नहीं हैं था थे थी कि एक हो भी इस उस तो ही कर लिए अपने जो क्या कौन कहाँ कब
        क्यों कैसे मैं तुम हम वे उसने उसके इसके साथ बाद तक या जब लेकिन फिर
    """,
    "hu": """
        a az és hogy nem is egy volt meg ez de már csak ha mint azt el van aki ami én te ő mi ti ők mert vagy még ki
        akkor hol mikor miért hogyan mit nagyon lesz volna voltak után neki engem minden ezt ott itt olyan így úgy fel
        semmi mindenki azon ezen aztán ezek azok arra erre benne most majd szemével egyik másik amely amit akit hozzá
        tőle róla
    """,
    "hy": """
        և է որ մի իր չէ նա են էր ու այդ այս իսկ եմ ես բայց թե ինչ ով որտեղ երբ ինչու ինչպես մեջ վրա համար հետ էին նրա
        նրան ինձ իմ ոչ էլ երբ կամ մենք դու նրանք
    """,
    "id": """
        yang dan di itu dengan untuk dari ini tidak dalam pada akan ke juga ia saya dia kami kita mereka aku kau anda
        adalah telah sudah oleh ada bisa karena seperti atau tetapi apa siapa mana kapan mengapa bagaimana hanya lebih
        nya lagi bahwa jika orang para
    """,
    "it": """
        a ad ai agli al alla alle allo anche ancora aveva avevano avere c che chi ci ciò col come con cosa così cui d
        da dagli dai dal dalla dalle dallo degli dei del dell della delle dello di dove due e è ed era erano essere fu
        furono fra gli ha hai hanno ho i il in io l la là le lei li lo loro lui m ma me mentre mi mia mie miei mio
        molto ne né negli nei nel nell nella nelle nello no noi non nostra nostro o ogni per perché perchè però più
        poi prima qual quale quali quando quanta quante quanti quanto quel quell quella quelle quelli quello questa
        queste questi questo qui s sarà se senza si sì sia siamo siete solo sono sopra sta stato stata su sua sue
        sugli sui sul sulla sulle sullo suo suoi t tra tu tutta tutte tutti tutto tua tuo un una uno v vi voi vostra
        vostro
    """,
    "lt": """
        ir kad į yra buvo ne iš su tai jis bet kaip ar jau tik aš tu ji mes jūs jie nuo per už o apie po prie kas kur
        kada kodėl jo jos jų savo mano tavo labai dar nebuvo nėra taip būti kai nes iki
    """,
    "ne": """
        र को मा छ हो पनि यो त्यो गर्न भने थियो थिए छन् गरेको एक लाई बाट तर उनी उसले म तिमी हामी के कहाँ किन कसरी कहिले
        छैन हुन्छ भयो गर्ने आफ्नो अनि सँग ले नै
    """,
    "nl": """
        aan al alle als altijd ander bij daar dan dat de der deze die dit doch doen door dus een eens en er ge geen
        had hadden haar heb hebben heeft hem het hier hij hoe hoeveel hun iets ik in is ja je jij jou jouw jullie kan
        kon konden kunnen maar me meer men met mij mijn moet moest na naar niet niets nog nu of om omdat onder ons
        onze ook op over reeds s t te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was
        wat we welk welke wel werd werden wezen wie wij wil wilde worden wordt zal ze zei zelf zeer zich zij zijn zo
        zonder zou zouden
    """,
    "no": """
        og i jeg det at en et den til er som på de med han av for ikke der var meg seg men har om vi min hadde ham hun
        nå over da fra du ut sin dem oss opp man hans hvor eller hva skal selv her alle vil ble kunne inn når være noe
        hennes etter ned denne dette disse hvem hvorfor hvordan hvilken hvilket også bli vært dog jo ikkje eg ho frå
        korleis kva
    """,
    "pl": """
        i w na z się nie do to że jest a o jak po co tak za ale od by był była było były go mu jej ich je mi mnie ja
        ty on ona oni my wy już tylko dla przez przed pod nad przy czy kto gdzie kiedy dlaczego który która które lub
        albo jego może sobie tym ten ta te tego więc jeszcze są być niż bo ze we gdy
    """,
    "pt": """
        a à ainda ao aos aquela aquelas aquele aqueles aquilo as às até cada com como contra cujo da das de dela delas
        dele deles depois desde dessa desse desta deste do dois dos e é ela elas ele eles em embora entre era eram és
        essa essas esse esses esta está estar estas estava estavam este estes eu foi fora foram há havia isso isto já
        lá lhe lhes lo mais mas me mesmo meu meus mim minha minhas muito na nada não nas nem nenhum nessa nesse nesta
        neste no nos nós nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos pois
        por porém porque porquê qual quais quando quanta quantas quanto quantos que quê quem são se seja sem sempre
        ser será seu seus si sido sim só sobre sou sua suas também tanto te tem tendo tinha tinham toda todas todo
        todos tu tua um uma umas uns você vocês vos
    """,
    "ro": """
        și şi a de în la cu nu pe că o un să din se ce mai era au am ai este sunt pentru care lui ei el ea eu tu noi
        voi îi îl dar sau când unde cum cine cât dacă ca fi fost prin după până fără între acest această acea acel său
        sa îşi își mi-a i-a le lor tot toate nimic toți ceea aceea aceasta acesta nici doar apoi atunci acolo aici
        ceva cineva despre îmi îți ne vă te mă unei unui cele cei cea
    """,
    "ru": """
        а без бы был была были было быть в вам вас ваш во вот все всё всего всех вы где да даже для до его ее её ей
        ему если есть еще ещё же за зачем здесь и из или им их к как какая какие какой ко когда кого который которая
        которые кто куда ли меня мне мной может мой моя мы на над надо нам нас не него нее неё ней нему нет ни них но
        ну о об он она они оно от отчего очень по под почему при про с сам свой себе себя сколько со так такой там
        тебе тебя тем то того тоже только том ты у уж уже что чего чем чему чтобы чья эта эти это этого этой этом этот
        я
    """,
    "sr": """
        i je u na da se su za od ne s sa o bi nije ali kao što koji koja koje ili to ta taj ga mu joj ih on ona oni mi
        vi ja ti samo već kad kada gde gdje kako zašto ko tko šta bio bila bilo bili sam si smo ste iz po do pa još
        nego и је у на да се су за од не са о би није али као што који која које или то та тај га му јој их он она они
        ми ви ја ти само већ кад када где како зашто ко шта био била било били сам смо сте из по до па још него
    """,
    "st": """
        ka le ha ho e a ke o ba ya wa hore tsa se ne re bona hae hao haholo empa feela moo kapa ena eo teng mme hobane
        eng mang kae neng jwang joalo bile tla
    """,
    "sv": """
        och i att det som en på är av för med den till inte har de ett om han men var jag sig från vi så kan när år ut
        nu hade hon där min mig dem oss då vad du honom henne man hans hennes eller skulle mot under vid efter över
        upp in bara hur vem varför vilken vilket också blev bli varit denna detta dessa ned ju än här ej icke
    """,
    "ta": """
        ஒரு இந்த அந்த என்று என இது அது அவர் அவன் அவள் நான் நீ நாம் அவர்கள் மற்றும் இருந்து உள்ள தான் என்ன யார் எங்கே
        எப்போது ஏன் எப்படி இல்லை ஆனால் போல மிக வந்து கொண்டு இருந்தது என்ற அதை
    """,
    "tr": """
        ve bir bu da de için ne o ile gibi çok ben sen biz siz onlar daha ama ki mi mı mu mü var yok değil her şey
        sonra kadar olan olarak diye ya en hiç beni bana ona onu onun kim nerede nasıl neden niçin zaman şu ise idi
        dedi
    """,
    "yi": """
        און די דער אַז אין צו איז מיט האָט ער זי איך ניט נישט פֿון פון אויף א אַ דאָס דאס דעם וואָס וואס ווי זיך אַן
        האט אים זיין וועט מיר דו וואו ווען ווער פאַרוואָס אבער אָבער נאָך שוין
    """,
    # Languages that are told apart from those above, lest their words lose endings that they do not have.
    "bg": """
        и на да се не от за в с е че си по са но го ще като до това бе му ли беше той тя те я какво къде кога защо още
    """,
    "he": "את של על לא כי הוא אל זה אני היא גם כל אם או עם לו יש היה כך אבל מה מי איפה מתי למה איך אין הם אתה לי רק",
    "is": """
        og að í á það sem er ekki var við til um með af hann fyrir en því ég hún eru þá svo frá þeir hefur þar hvað
    """,
    "la": """
        et in est non ad ut cum sed quod qui quae ex si ab per sunt autem enim nec atque de esse quam hoc eius etiam
        omnis inter quos nos vos tu ego me te se eos ea id hic haec ille illa ipse nam tamen quidem esset erat fuit
        ante post sub
    """,
    "sk": "a sa na je že v to som si ako ale so by z ho s do aj po za keď bol bola bolo ich čo tak už len nie od pre",
    "uk": """
        і в не на що я з та це до як він за але його у про так від ти вони вона був була було ми коли хто де чому ще
    """,
    "ur": "کے کی ہے میں اور سے کا کو نے پر یہ وہ نہیں ہیں تھا کہ ایک ہو بھی اس تو ہی کر لیے کیا تھے تھی",
}

SAMPLE_CHARACTERS = 8_000
"""Of a book, from its first chapter on: three pages."""

LEAST_SHARE = 0.1
"""The share of a text's words that must be function words of its language; running prose has three to six times as
many.
"""

PLAINLY = 2.0
"""The factor by which another language must outweigh the declared one to be taken for the language of the text."""


@dataclass(frozen=True, slots=True)
class Analyzer:
    """How the words of one language are compared. Thread-safe.

    `stem` maps a written word to its search form. `accents_matter` means that the stem depends on accents; a word
    typed without them then has to be looked up by its `spelling`.
    """

    language: str
    stem: Callable[[str], str]
    stop_words: frozenset[str]
    accents_matter: bool

    def spelling(self, word: str) -> str:
        """What all ways to write a form have in common: it ignores case, accents and, in German, umlauts written with
        two letters.
        """
        return _UMLAUT.sub(r"\1", fold(word)) if self.language == "de" else fold(word)

    def bases(self, word: str) -> frozenset[str]:
        """A word without each of the endings it may have, in one spelling; empty for most languages.

        Related words with different stems ("fragte", "fragen") share a base.
        """
        endings, others = _ENDINGS.get(self.language), _OTHER_ENDINGS.get(self.language, ())
        if endings is None:
            return frozenset()
        spelt = self.spelling(word)
        cut = {spelt} | {spelt.removesuffix(each) for each in endings if spelt.endswith(each)}
        cut |= {spelt.removesuffix(old) + new for old, new in others if spelt.endswith(old)}
        return frozenset(_base(each) for each in cut if len(each) >= SHORTEST_BASE)

    def other_spellings(self, word: str) -> frozenset[str]:
        """An English word as it is spelt elsewhere, or was: "colour" and "color", "50" and "fifty"; folded."""
        return frozenset() if self.language else _other_spellings(word)

    @property
    def has_endings(self) -> bool:
        """Whether `bases` supports this language."""
        return self.language in _ENDINGS

    @property
    def has_compounds(self) -> bool:
        return self.language in _COMPOUNDING


SHORTEST_BASE = 3

_INFLECTION = {
    "da": "ede ende en ene er erne es et e ne n s t te de",
    "de": "e em en er ern es est et ete eten innen in n s st t te tem ten ter test tet",
    "es": "a an ando ar aron as e en er es ia ian iendo ieron io ir ida ido o os s",
    "it": "a ando are ata ate ati ato ava avano e endo ere eva evano i ire ita iti ito iva o ono",
    "nl": "d de den der e en end ende ends er eren es s st t te ten",
    "no": "ede ende en ene er es et ete a e ne n s t te de",
    "pt": "a am ando ar aram as ava avam e em endo er es ia iam ir iram ida ido o os ou s",
    "sv": "a ad ade ar are arna as at de e en er erna es et ets n na ns or orna s t te",
}
"""What inflection adds to words, folded. Snowball's stemmers leave some of these endings in place where the result
might be another word.
"""

_ENDINGS = {language: endings.split() for language, endings in _INFLECTION.items()}
_OTHER_ENDINGS = {
    "de": (("inn", "in"),),
    "es": (("ces", "z"), ("c", "z")),
    "it": (("che", "ca"), ("ghe", "ga"), ("chi", "co"), ("ghi", "go")),
    "pt": (("ns", "m"), ("oes", "ao"), ("aes", "ao"), ("ais", "al"), ("eis", "el"), ("ois", "ol")),
}
_DOUBLED = re.compile(r"([^\W\d_])\1")
_MUTE = re.compile(r"(?<=[^\Waeiou\d_])[ae](?=[lrn]$)")
_VOICED = {"v": "f", "z": "s"}


def _base(word: str) -> str:
    """A word without doubled letters, without the vowel that endings remove ("dunkel", "dunkle"), and with the
    consonant that words end in ("brieven", "brief").
    """
    word = _MUTE.sub("", _DOUBLED.sub(r"\1", word))
    return word[:-1] + _VOICED.get(word[-1], word[-1])


_UMLAUT = re.compile(r"(?:(?<![aeq])(?=ue)|(?=[ao]e))([aou])e")
"""In folded German words, "ae", "oe" and "ue" for "ä", "ö" and "ü", but not the "ue" of "neue",
"Frauen" or "Quelle".
"""

_TWO_WAYS = """
    aeroplane airplane; aesthe esthe; anaesthe anesthe; archaeolog archeolog; burthen burden; catalogue catalog;
    centred centered; chequer checker; cocoanut coconut; connexion connection; cosy cozy; defence defense; despatch
    dispatch; draught draft; encyclopaed encycloped; enquir inquir; enrol enroll; fulfil fulfill; gaol jail; gipsy
    gypsy; gipsies gypsies; grey gray; haemorrhag hemorrhag; hindoo hindu; instal install; jewellery jewelry; kerb
    curb; lanthorn lantern; licence license; manoeuvr maneuver; mediaeval medieval; mould mold; moustach mustach;
    offence offense; plough plow; pretence pretense; programme program; pyjama pajama; sceptic skeptic; shew show;
    skilful skillful; smoulder smolder; sulphur sulfur; waggon wagon; whisky whiskey; wilful willful
"""
_BRITISH_AND_AMERICAN = [(british, american) for british, american in map(str.split, _TWO_WAYS.split(";"))]
_ENDING = 4
"""Letters at most that follow the beginning of such a word."""
_ENDINGS_IN_TWO_WAYS = [
    (r"(\w{3,}?)", "our", "or", r"((?:s|ed|ings?|abl[ey]|ful(?:ly)?|less|ites?|y|hoods?|ly|ers?)?)"),
    (r"(\w{3,})", "is", "iz", "(e[drs]?|ers|ings?|ations?)"),
    (r"(\w{2,})", "ys", "yz", "(e[drs]?|ing)"),
    (r"(\w{2,}[^aeiou][aeiou])", "ll", "l", "(s?|ed|ings?|[eo]rs?|ous(?:ly)?)"),
    ("(cent|theat|spect|fib|lust|sab|scept|sepulch|calib|lit|met|och|mit|meag|somb)", "re", "er", "(s?)"),
]


_UP_TO_TWENTY = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_NUMBERS = [*enumerate(f"{_UP_TO_TWENTY} seventeen eighteen nineteen twenty".split(), 1)]
_NUMBERS += zip(range(30, 100, 10), "thirty forty fifty sixty seventy eighty ninety".split(), strict=True)  # noqa: SIM905
_IN_WORDS = {str(number): word for number, word in _NUMBERS}
_IN_DIGITS = {word: digits for digits, word in _IN_WORDS.items()}
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


@lru_cache(maxsize=STEMS_REMEMBERED)
def in_one_spelling(word: str) -> str:
    """An English word as Americans spell it, and a number in digits; folded."""
    folded = fold(word)
    if folded in _IN_DIGITS:
        return _IN_DIGITS[folded]
    if ordinal := _ORDINAL.fullmatch(folded):
        return ordinal[1]
    for british, american in _BRITISH_AND_AMERICAN:
        is_american = american.startswith(british) and folded.startswith(american)
        if folded.startswith(british) and not is_american and len(folded) <= len(british) + _ENDING:
            return american + folded.removeprefix(british)
    for before, british, american, after in _ENDINGS_IN_TWO_WAYS:
        if found := re.fullmatch(f"{before}{british}{after}", folded):
            return f"{found[1]}{american}{found[2]}"
    return folded


@lru_cache(maxsize=STEMS_REMEMBERED)
def _other_spellings(word: str) -> frozenset[str]:
    folded = fold(word)
    pairs = _BRITISH_AND_AMERICAN
    begun = {british + folded.removeprefix(american) for british, american in pairs if folded.startswith(american)}
    ended = {
        f"{found[1]}{british}{found[2]}"
        for before, british, american, after in _ENDINGS_IN_TWO_WAYS
        if (found := re.fullmatch(f"{before}{american}{after}", folded))
    }
    numbers = {_IN_WORDS[folded]} if folded in _IN_WORDS else set[str]()
    return frozenset({in_one_spelling(folded), *begun, *ended, *numbers} - {folded})


DEFAULT_ANALYZER = Analyzer("", stem_of, STOP_WORDS, accents_matter=False)
"""For English, and for languages without a stemmer."""


def analyzer_for(language: str, algorithm: Callable[[str], str]) -> Analyzer:
    """The analyzer for one of LANGUAGES other than English; `algorithm` returns the stem of a lower-case word."""

    @lru_cache(maxsize=STEMS_REMEMBERED)
    def stem(word: str) -> str:
        written = without_possessive(unicodedata.normalize("NFC", word))
        if language == "tr":
            written = written.replace("I", "ı").replace("İ", "i")
        return fold(algorithm(written.lower())) or fold(word)

    return Analyzer(language, stem, _function_words()[language], accents_matter=True)


def book_language(book: BookText) -> str:
    """The code of a book's language in LANGUAGES; empty if it is another or unknown.

    The declared language counts unless the text is clearly in another: much software declares English whatever it is
    given.
    """
    opening = book.chapters[0].start if book.chapters else 0
    if opening > len(book.text) // 2:
        opening = 0
    return text_language(book.text[opening : opening + SAMPLE_CHARACTERS], book.language)


def text_language(text: str, declared: str = "") -> str:
    """The code of a text's language, as for `book_language`; `declared` is a code or an English name."""
    words = words_of(text)
    evidence = _evidence(words)
    best = max(evidence, key=evidence.__getitem__, default="")
    named = language_code(declared)
    likely = evidence.get(named or "en", 0.0)
    if evidence.get(best, 0.0) <= max(LEAST_SHARE * len(words), PLAINLY * likely):
        return named or ("en" if best == "en" else "")
    return best if best in LANGUAGES else ""


def language_code(declared: str) -> str:
    """The code in LANGUAGES that a file means by "de-AT", "ger" or "German"; empty if there is none."""
    name = declared.strip().lower().replace("_", "-").partition("-")[0]
    return name if name in LANGUAGES else _codes().get(name, "")


def language_name(code: str) -> str:
    """The English name of one of LANGUAGES, in lower case."""
    return LANGUAGES[code].partition(" ")[0]


def _evidence(words: list[str]) -> Mapping[str, float]:
    """How many function words of each language are among the words; one shared by several languages counts in part for
    each.
    """
    languages_of = _languages_by_word()
    evidence: dict[str, float] = {}
    for word, count in Counter(map(_in_small_letters, words)).items():
        sharing = languages_of.get(word, ())
        for language in sharing:
            evidence[language] = evidence.get(language, 0.0) + count / len(sharing)
    return evidence


@cache
def _function_words() -> dict[str, frozenset[str]]:
    folded = {language: frozenset(map(fold, text.split())) for language, text in _FUNCTION_WORDS.items()}
    return folded | {"en": STOP_WORDS}


def _in_small_letters(word: str) -> str:
    """The text in lower case with its accents, which distinguish languages."""
    return unicodedata.normalize("NFC", word).lower()


@cache
def _languages_by_word() -> dict[str, list[str]]:
    sharing: dict[str, list[str]] = {}
    for language, text in (_FUNCTION_WORDS | {"en": " ".join(STOP_WORDS)}).items():
        for word in dict.fromkeys(map(_in_small_letters, text.split())):
            sharing.setdefault(word, []).append(language)
    return sharing


@cache
def _codes() -> dict[str, str]:
    return {name: code for code, names in LANGUAGES.items() for name in names.split()}
