"""A page whose number is written in words goes, too, in every language in which answers are written."""

import re

import pytest

from domain.citations.page_numbers import TypedPages, without_typed_pages

_IN_WORDS = """
auf Seite {}: eins null neun, zwei-null-sieben
en la página {}: uno cero nueve
auf Seite {}: dreizehn, sechzehn, einundzwanzig, zweiundsiebzig, zweihundertsiebzehn, dreihundertdreiundvierzig
à la page {}: treize, seize, vingt et un, soixante-douze, deux cent dix-sept, trois cent quarante-trois
en la página {}: trece, dieciséis, veintiuno, setenta y dos, doscientos diecisiete, trescientos cuarenta y tres
a pagina {}: tredici, sedici, ventuno, settantadue, duecentodiciassette, trecentoquarantatre
na página {}: treze, dezasseis, vinte e um, setenta e dois, duzentos e dezassete, trezentos e quarenta e três
op bladzijde {}: dertien, zestien, eenentwintig, tweeënzeventig, tweehonderdzeventien, driehonderddrieënveertig
på sidan {}: tretton, sexton, tjugoett, sjuttiotvå, tvåhundrasjutton, trehundraförtiotre
på side {}: tretten, seksten, enogtyve, tooghalvfjerds, tohundrede og sytten, trehundrede og treogfyrre
på side {}: syv, tretten, seksten, tjueen, førtifire, syttito
na stronie {}: trzynaście, szesnaście, dwadzieścia jeden, siedemdziesiąt dwa, dwieście siedemnaście
na stronie {}: trzysta czterdzieści trzy
na straně {}: třináct, šestnáct, dvacet jedna, sedmdesát dva, dvěstě sedmnáct, třista čtyřicet tři
на странице {}: тринадцать, шестнадцать, двадцать один, семьдесят два, двести семнадцать, триста сорок три
на сторінці {}: тринадцять, шістнадцять, двадцять один, сімдесят два, двісті сімнадцять, триста сорок три
la pagina {}: treisprezece, șaisprezece, douăzeci și unu, șaptezeci și doi, două sute șaptesprezece
la pagina {}: trei sute patruzeci și trei
στη σελίδα {}: δεκατρία, δεκαέξι, είκοσι ένα, εβδομήντα δύο, διακόσια δεκαεπτά, τριακόσια σαράντα τρία
sayfa {}: onüç, onaltı, yirmibir, yetmişiki, ikiyüzonyedi, üçyüzkırküç, on yedi
בעמוד {}: שלוש עשרה, שש עשרה, עשרים ואחת, שבעים ושתיים, מאתיים ושבע עשרה, שלוש מאות ארבעים ושלוש
في الصفحة {}: ثلاثة عشر, ستة عشر, واحد و عشرون, اثنان و سبعون, مئتان و سبعة عشر, ثلاثمائة و ثلاثة و أربعون
पृष्ठ {}: तेरह, सोलह, इक्कीस, बहत्तर, दो सौ सत्रह, तीन सौ तैंतालीस
ở trang {}: mười ba, mười sáu, hai mươi mốt, bảy mươi hai, hai trăm mười bảy, ba trăm bốn mươi ba
sivulla {}: kolmetoista, kuusitoista, kaksikymmentäyksi, seitsemänkymmentäkaksi, kaksisataaseitsemäntoista
sivulla {}: kolmesataaneljäkymmentäkolme
auf der {}n Seite: siebte, dreizehnte, vierundvierzigste, einhundertsiebzehnte, zweihundertsiebzehnte
en la {} página: séptima, décima tercera, quadragésima cuarta, centésima décima séptima, ducentésima décima séptima
alla {} pagina: settima, tredicesima, quarantaquattresima, centodiciassettesima, duecentodiciassettesima
op de {} bladzijde: zevende, dertiende, vierenveertigste, honderdzeventiende, tweehonderdzeventiende
på den {} sidan: sjunde, trettonde, förtiofjärde, etthundrasjuttonde, tvåhundrasjuttonde
na {} stronie: siódmej, trzynastej, czterdziestej czwartej, sto siedemnastej, dwieście siedemnastej
na {} straně: sedmé, třinácté, čtyřicáté čtvrté, sto sedmnácté, dvě stě sedmnácté
на {} странице: седьмой, тринадцатой, сорок четвёртой, сто семнадцатой, двести семнадцатой
на {} сторінці: сьомій, тринадцятій, сорок четвертій, сто сімнадцятій, двісті сімнадцятій
στην {} σελίδα: έβδομη, δέκατη τρίτη, τεσσαρακοστή τέταρτη, εκατοστή δέκατη έβδομη, διακοσιοστή δέκατη έβδομη
{} sayfada: yedinci, onüçüncü, kırkdördüncü, yüzonyedinci, ikiyüzonyedinci
a {} oldalon: hetedik, tizenharmadik, negyvennegyedik, száztizenhetedik, kétszáztizenhetedik
{} numaralı sayfada: seksen yedi
a {} oldalon: nyolcvanhetes, tizenharmas
a {} számú oldalon: nyolcvanhét
{} पृष्ठ पर: सातवें, तेरहवें, चवालीसवें, एक सौ सत्रहवें, दो सौ सत्रहवें
στην {} σελίδα: δεύτερη
{} 쪽에: 칠십팔, 일흔여덟
Seite {}: siebzig plus acht, achtzig minus zwei
на {} странице: трёхсотой
"""


@pytest.mark.parametrize("line", _IN_WORDS.strip().splitlines())
def test_a_number_in_words_beside_a_word_for_page_goes(line: str) -> None:
    place, numbers = line.split(": ")
    gone = f"X {re.sub(r'{}n?', '…', place)}."
    shown = {number: without_typed_pages(f"X {place.format(number)}.") for number in numbers.split(", ")}
    assert shown == dict.fromkeys(shown, gone)


def _where_pages_are_asked_for(text: str) -> str:
    pages = TypedPages(lambda number: False)
    pages.are_pages_told = True
    return pages.remove(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "He was once a rich man.",
            "At once he falls.",
            "He met an elf.",
            "He is Patient Zero.",
            "It came to nought.",
        ),
        *("Er gab acht und starb.", "Il est neuf.", "Il est très malade.", "Je dois partir.", "Sono le due."),
        *("Lei è una nove.", "Ele viu o tio.", "Ele é doce.", "De er tyve.", "He died of cent and dime debts."),
    ],
)
def test_an_ordinary_word_is_no_number_even_where_pages_are_asked_for(text: str) -> None:
    assert _where_pages_are_asked_for(text) == text


@pytest.mark.parametrize(
    "text", ["Elf.", "Once.", "Neuf.", "Auf elf.", "He dies on mille neuf cent.", "Siebzehn.", "Auf der hundertelften."]
)
def test_where_pages_are_asked_for_it_is_one_as_the_whole_answer_or_beside_others(text: str) -> None:
    assert not re.search("elf|once|neuf|siebzehn", _where_pages_are_asked_for(text), re.IGNORECASE)


@pytest.mark.parametrize("text", ["Muere en la página once.", "Auf Seite elf.", "À la page neuf."])
def test_beside_a_word_for_page_it_is_one_as_well(text: str) -> None:
    assert not re.search("elf|once|neuf", without_typed_pages(text))


_PAGES_IN_OTHER_LANGUAGES = """
Han dør på tohundrede og syttende side.
Han er på den tohundredesyttende side.
그는 217번째 쪽에서 죽는다.
Նա մահանում է 217 էջում։
Նա մահանում է 217-րդ էջում։
217 orrian hiltzen da.
በገጽ 217 ይሞታል።
በ217ኛው ገጽ ይሞታል።
ඔහු 217 වන පිටුවේ මිය යයි.
Тэр 217-р хуудсанд үхдэг.
Ол 217-бетте өледі.
U 217-sahifada vafot etadi.
Səhifə 217-də ölür.
Në faqe 217 vdes.
Hy sterf op die 217de bladsy.
אויף דער 217טער זייט שטאַרבט ער.
Ew di rûpela 217an de dimire.
لە لاپەڕەی 217 دەمرێت.
هغه په 217 مخ کې مري.
Namatay siya sa ika-217 na pahina.
Ufa ekhasini lama-217.
Miršta 217 puslapyje.
وہ صفحہ نمبر 217 پر مرتا ہے۔
সে 217 নম্বর পাতায় মারা যায়।
అతను 217వ పేజీలో చనిపోతాడు.
ಅವನು 217ನೇ ಪುಟದಲ್ಲಿ ಸಾಯುತ್ತಾನೆ.
તે પાના 217 પર મરે છે.
तो पान 217 वर मरतो.
Ул 217 нче биттә үлә.
Nahodha anazama ukurasa wa 217 wa kitabu.
ກັບຕັນຈົມນ້ຳໃນໜ້າ 217 ຂອງປຶ້ມ.
กัปตันจมน้ำในหน้า 217 ของหนังสือ
La kapitano dronas sur paĝo 217 de la libro.
Il-kaptan jegħreq f'paġna 217 tal-ktieb.
Kapten lemas di muka surat 217 buku itu.
Kapitani yarohamye ku rupapuro rwa 217 rw'igitabo.
De Kapitän erdrénkt op der Säit 217 vum Buch.
ତାହା ପୃଷ୍ଠା 217 ରେ ମରେ।
"""


@pytest.mark.parametrize("text", _PAGES_IN_OTHER_LANGUAGES.strip().splitlines())
def test_a_page_goes_in_less_common_languages_too(text: str) -> None:
    assert not re.search("217|sytten", TypedPages(lambda number: False).remove(text))


@pytest.mark.parametrize("text", ["ཤོག་ངོས་ 217 ནང་ཤི་བ་རེད།", "ᎤᏲᎱᏒ 217 ᎠᏓᏍᏕᎸᏗ.", "ⴰⵙⵏⴰ 217 ⵉⵎⵎⵓⵜ."])
def test_beside_words_of_a_script_in_which_no_word_for_page_is_known_a_number_may_be_one(text: str) -> None:
    assert "217" not in TypedPages(lambda number: False).remove(text)


@pytest.mark.parametrize(
    "text",
    [
        "Libri ka 300 faqe.",
        "Kitob 300 sahifa.",
        "Liburuak 300 orrialde ditu.",
        "Գիրքը 300 էջ է։",
        "Նա 59 տարեկան է։",
        "ის 59 წლისაა.",
        "Roedd ganddo 3 merch.",
        "ከ1893 በኋላ",
    ],
)
def test_pages_and_other_things_that_are_counted_stay_in_less_common_languages(text: str) -> None:
    assert TypedPages(lambda number: False).remove(text) == text
