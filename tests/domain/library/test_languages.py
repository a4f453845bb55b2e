"""Books in other languages are searched without minding accents and case, and as far as endings go also declension."""

import pytest

from tests.domain.library.indexed import reading_of

SOUGHT = [
    ("Der Müller ging über den Fluß.", "Es regnete den ganzen Tag.", "muller fluss"),
    ("Großmutters Äpfel waren rot.", "Es regnete den ganzen Tag.", "APFEL"),
    ("L’école était fermée, dit l’œuvre.", "Il ne se passa rien.", "ecole"),
    ("Aujourd’hui le garçon est parti.", "Il ne se passa rien.", "aujourd'hui garcon"),
    ("El niño comió en la montaña.", "No pasó nada aquel día.", "¿nino montana?"),
    ("Старик поймал золотую рыбку у реки.", "В тот день было тихо.", "золотая рыбка"),
    ("Ёлка стояла в лесу.", "В тот день было тихо.", "ЕЛКИ"),
    ("Ο γέρος έπιασε ένα ψάρι.", "Τίποτα δεν έγινε.", "ΓΕΡΟΣ ψαρι"),
    ("公主住在城堡里，钥匙在井底。", "那天什么也没有发生。", "城堡在哪里？"),
    ("猫は灯台の鍵を見つけた。", "その日は何も起こりませんでした。", "灯台はどこですか"),
    ("猫は灯台の鍵を見つけた。", "その日は何も起こりませんでした。", "鍵って何"),
    ("공주는 성에 살았다.", "그날은 아무 일도 없었습니다.", "공주"),
    ("ชาวประมงจับปลาทองได้", "วันนั้นไม่มีอะไรเกิดขึ้น", "ปลาทอง"),
    ("मछुआरे ने मछली पकड़ी।", "उस दिन कुछ नहीं हुआ।", "मछली"),
    ("المِفْتَاحُ في البئر.", "لم يحدث شيء.", "المفتاح"),
]


@pytest.mark.parametrize(("line", "filling", "query"), SOUGHT)
def test_a_line_is_found_among_many_others(line: str, filling: str, query: str) -> None:
    text = "\n\n".join([*[filling] * 60, line, *[filling] * 60])
    first = reading_of(text).search([query], 1)[0]
    assert first.start <= text.index(line) < first.end


@pytest.mark.parametrize(
    ("text", "term", "count"),
    [
        ("Ёлка, елки и ёлка.", "ёлка", 2),
        ("猫は猫である。小猫も。", "猫", 3),
        ("灯台の鍵、灯台の猫。", "灯台", 2),
        ("L'ami et l’ami, amis.", "ami", 2),
        ("Der Fluß, der Fluss, die Flüsse.", "Fluß", 2),
        ("O’Hara met O'Hara's cat and the o’haras.", "O'Hara", 2),
        ("Don't! I don’t, do not.", "don't", 2),
        ("Scarrow Light, scarrow light; the Light of Scarrow.", "Scarrow Light", 1),
        ("rose, Rose and ROSE; roses", "rose", 3),
        ("rose, Rose and ROSE; roses", "Rose", 2),
        ("cat concatenate cats cat-like", "cat", 2),
        ("The grey colour of the theatre, gray and greyish.", "gray", 2),
        ("His pocket-book was a Pocket-book, no book.", "pocketbook", 2),
    ],
)
def test_mentions_are_whole_words(text: str, term: str, count: int) -> None:
    mentions = reading_of(text).count_mentions(term)
    assert mentions.total == count == sum(each.count for each in mentions.by_chapter)
