"""Places as people write them ("Tromso, Norway", "White Plains NY"), told apart among those a gazetteer offers."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

# ISO 3166-2, without the country: US states and Canadian provinces, which people write by their postal codes.
_REGIONS = {
    "us": """al Alabama|ak Alaska|az Arizona|ar Arkansas|ca California|co Colorado|ct Connecticut|de Delaware
        |dc District of Columbia|fl Florida|ga Georgia|hi Hawaii|id Idaho|il Illinois|in Indiana|ia Iowa|ks Kansas
        |ky Kentucky|la Louisiana|me Maine|md Maryland|ma Massachusetts|mi Michigan|mn Minnesota|ms Mississippi
        |mo Missouri|mt Montana|ne Nebraska|nv Nevada|nh New Hampshire|nj New Jersey|nm New Mexico|ny New York
        |nc North Carolina|nd North Dakota|oh Ohio|ok Oklahoma|or Oregon|pa Pennsylvania|ri Rhode Island
        |sc South Carolina|sd South Dakota|tn Tennessee|tx Texas|ut Utah|vt Vermont|va Virginia|wa Washington
        |wv West Virginia|wi Wisconsin|wy Wyoming""",
    "ca": """ab Alberta|bc British Columbia|mb Manitoba|nb New Brunswick|nl Newfoundland and Labrador|ns Nova Scotia
        |nt Northwest Territories|nu Nunavut|on Ontario|pe Prince Edward Island|qc Quebec|sk Saskatchewan|yt Yukon""",
}
_COUNTRY_ALIASES = {
    "us": ("usa", "america", "united states of america"),
    "gb": ("uk", "great britain", "britain"),
    "nl": ("holland",),
    "cz": ("czech republic",),
    "ae": ("uae",),
    "tr": ("turkey",),
}
_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


class Place(BaseModel):
    """A place of the gazetteer; regions go from the widest to the narrowest."""

    name: str
    latitude: float
    longitude: float
    country: str | None = None
    country_code: str | None = None
    admin1: str | None = None
    admin2: str | None = None
    admin3: str | None = None
    admin4: str | None = None

    @property
    def label(self) -> str:
        return ", ".join(dict.fromkeys(part for part in (self.name, self.admin1, self.country) if part))

    @property
    def surroundings(self) -> set[str]:
        """Every folded name of what the place lies in."""
        code = fold(self.country_code or "")
        names = {fold(name) for name in (self.country, self.admin1, self.admin2, self.admin3, self.admin4) if name}
        return names | {code, *_COUNTRY_ALIASES.get(code, ()), *_codes_of(fold(self.admin1 or ""), code)}


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to read what was written: a name to look up, and what the place should lie in.

    `strict` says that the reading is a guess, which counts only if all hints fit.
    """

    name: str
    hints: tuple[str, ...] = ()
    strict: bool = False


def spellings(location: str) -> Iterator[Spelling]:
    """The readings of a location, the likeliest first; none of a blank one."""
    parts = [part.strip() for part in location.split(",") if part.strip()]
    if not parts:
        return
    name, hints = parts[0], tuple(parts[1:])
    yield Spelling(", ".join(parts), hints)
    if hints:
        yield Spelling(name, hints)
    words = name.split()
    for last in (1, 2):
        if len(words) > last:
            yield Spelling(" ".join(words[:-last]), (" ".join(words[-last:]), *hints), strict=True)


def choose(places: Sequence[Place], spelling: Spelling) -> Place | None:
    """The first of the places that most hints fit."""
    if not places:
        return None
    best = max(places, key=lambda place: _fitting(place, spelling))
    return None if spelling.strict and _fitting(best, spelling) < len(spelling.hints) else best


def fold(text: str) -> str:
    """The text without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS).replace(".", ""))
    letters = "".join(letter if letter.isalnum() else " " for letter in plain if not unicodedata.combining(letter))
    return " ".join(letters.split())


def _fitting(place: Place, spelling: Spelling) -> int:
    names = place.surroundings
    return sum(_covered(fold(hint).split(), names) for hint in spelling.hints)


def _covered(words: list[str], names: set[str]) -> bool:
    """Whether the words are nothing but such names, one after the other ("texas usa")."""
    return not words or any(
        " ".join(words[:end]) in names and _covered(words[end:], names) for end in range(1, len(words) + 1)
    )


def _codes_of(region: str, country_code: str) -> list[str]:
    entries = (entry.strip().split(" ", 1) for entry in _REGIONS.get(country_code, "").split("|") if entry)
    return [code for code, name in entries if fold(name) == region]
