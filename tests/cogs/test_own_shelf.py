"""The shelf of a person: in direct messages, and wherever they alone have installed the bot. It mixes with no other."""

import pytest

from domain.book import personal_shelf
from tests.bot.online import Online
from tests.doubles.discord_api import Actor, Channel, DiscordDouble, Interaction
from tests.journeys.reading_room import TALE


@pytest.fixture
def ann(double: DiscordDouble) -> Actor:
    """She is in no server of the bot's, and has installed it for herself."""
    ann = double.stranger("ann")
    ann.install()
    return ann


async def add(double: DiscordDouble, person: Actor, place: Channel, title: str, text: str = TALE) -> Interaction:
    file = double.file("tale.txt", text.encode())
    added = await person.slash("books add", channel=place, file=file, title=title)
    await double.until(lambda: title in added.text)
    return added


async def answered(double: DiscordDouble, used: Interaction) -> None:
    await double.until(lambda: used.messages)


def foreign_channel(double: DiscordDouble, *people: Actor) -> Channel:
    """The channel of a server that has not installed the bot."""
    guild = double.add_guild("Elsewhere", with_bot=False)
    for person in people:
        double.world.join(guild, person.user)
    [channel] = guild.channels.values()
    return channel


async def test_a_book_is_added_listed_and_removed_in_direct_messages(
    double: DiscordDouble, bot: Online, ann: Actor
) -> None:
    place = ann.direct_channel
    added = await add(double, ann, place, "The Lamp")
    assert not added.ephemeral
    listed = await ann.slash("books list", channel=place)
    await double.until(lambda: "The Lamp" in listed.text)
    [book] = await bot.app.storage.books.list(personal_shelf(str(ann.id)))
    moved = await ann.slash("progress", channel=place, page="1")
    await double.until(lambda: "about page 1" in moved.text)
    asked = await ann.slash("books remove", channel=place, book=book.id)
    await double.until(lambda: "Remove “The Lamp”" in asked.text)
    await ann.click(asked.message, label="Remove it")
    await double.until(lambda: "Removed “The Lamp”" in asked.text)
    assert await bot.app.storage.books.list(None) == []


@pytest.mark.parametrize("kind", ["server", "private"])
async def test_where_only_the_person_has_it_they_see_their_shelf_alone(
    double: DiscordDouble, bot: Online, ann: Actor, kind: str
) -> None:
    ben = double.stranger("ben")
    place = foreign_channel(double, ann, ben) if kind == "server" else ann.private_channel(ben)
    used = [await add(double, ann, place, "The Lamp")]
    for command in ("books list", "progress", "usage", "privacy", "help"):
        used.append(await ann.slash(command, channel=place))
        await answered(double, used[-1])
    assert all(each.ephemeral for each in used)
    assert double.messages(place) == []
    assert [book.shelf for book in await bot.app.storage.books.list(None)] == [personal_shelf(str(ann.id))]


async def test_erasing_takes_the_files_of_the_own_shelf_too_unless_a_server_has_them(
    double: DiscordDouble, bot: Online, ann: Actor
) -> None:
    double.world.join(double.guild, ann.user)
    place = ann.direct_channel
    await add(double, ann, place, "The diary", "My diary.\n\nNobody has read this.\n")
    await add(double, ann, place, "The letters", "My letters.\n\nNobody has read these.\n")
    [book] = [each for each in await bot.app.shelf.list(None) if each.title == "The letters"]
    removed = await ann.slash("books remove", channel=place, book=book.id)
    await double.until(lambda: "Remove “The letters”" in removed.text)
    await ann.click(removed.message, label="Remove it")
    await double.until(lambda: "Removed “The letters”" in removed.text)
    await add(double, ann, place, "The Lamp")
    await add(double, ann, double.channel, "The server's lamp")
    files = bot.app.settings.data_dir / "books"
    assert len(list(files.glob("*.book"))) == 3
    asked = await ann.slash("privacy", channel=place)
    await answered(double, asked)
    await ann.click(asked.message, label="Erase it all")
    await double.until(lambda: "Erase everything?" in asked.text)
    await ann.click(asked.message, label="Erase it all")
    await double.until(lambda: "Erased:" in asked.text)
    [left] = await bot.app.shelf.list(None)
    assert [each.stem for each in files.glob("*.book")] == [left.sha256]


async def test_a_person_meets_the_same_shelf_everywhere_and_the_servers_in_the_server(
    double: DiscordDouble, bot: Online, ann: Actor
) -> None:
    double.world.join(double.guild, ann.user)
    await add(double, ann, ann.direct_channel, "My own lamp")
    await add(double, ann, double.channel, "The server's lamp")
    at_home = await ann.autocomplete("progress", "book", "lamp", channel=double.channel)
    elsewhere = await ann.autocomplete("progress", "book", "lamp", channel=foreign_channel(double, ann))
    direct = await ann.autocomplete("progress", "book", "lamp", channel=ann.direct_channel)
    assert [each["name"].split(" ·")[0] for each in at_home] == ["The server's lamp"]
    assert [each["name"].split(" ·")[0] for each in elsewhere] == ["My own lamp"]
    assert direct == elsewhere


async def test_ids_of_other_shelves_name_nothing(double: DiscordDouble, bot: Online, ann: Actor) -> None:
    ben = double.user("ben")
    ben.install()
    await add(double, ann, ann.direct_channel, "Ann's lamp")
    await add(double, ben, double.channel, "The server's lamp")
    books = {book.title: book.id for book in await bot.app.storage.books.list(None)}
    forged = [
        (ben, ben.direct_channel, books["Ann's lamp"]),
        (ben, double.channel, books["Ann's lamp"]),
        (ben, ben.direct_channel, books["The server's lamp"]),
        (ann, ann.direct_channel, books["The server's lamp"]),
        (ann, foreign_channel(double, ann), books["The server's lamp"]),
    ]
    for person, place, book_id in forged:
        for command in ("books info", "books remove"):
            used = await person.slash(command, channel=place, book=book_id)
            await answered(double, used)
            assert not any(title in used.text for title, known in books.items() if known == book_id)
            assert used.ephemeral
    assert len(await bot.app.storage.books.list(None)) == 2


async def test_a_button_pressed_by_somebody_else_reaches_their_own_shelf(
    double: DiscordDouble, bot: Online, ann: Actor
) -> None:
    """What a person's own installation has posted can be pressed by whoever sees it."""
    ben = double.stranger("ben")
    place = foreign_channel(double, ann, ben)
    await add(double, ann, place, "Ann's lamp")
    [book] = await bot.app.storage.books.list(None)
    asked = await ann.slash("books remove", channel=place, book=book.id)
    await double.until(lambda: asked.messages)
    pressed = await ben.click(asked.message, label="Remove it")
    await double.until(lambda: pressed.messages)
    assert pressed.ephemeral
    assert await bot.app.storage.books.list(None) == [book]


async def test_what_is_asked_elsewhere_is_answered_to_the_person_alone(
    double: DiscordDouble, bot: Online, ann: Actor
) -> None:
    """Also where they want it public: it is not their server's bot."""
    place = foreign_channel(double, ann)
    await add(double, ann, place, "The Lamp")
    bot.model.say("The keeper does.")
    used = [
        await ann.slash("ask", channel=place, question="Who keeps it?", public=True),
        await ann.slash("recap", channel=place, public=True),
        await ann.slash("who", channel=place, name="Marta Quill", public=True),
    ]
    await double.until(lambda: all(each.messages for each in used))
    assert all(message.ephemeral for each in used for message in each.messages)
    assert double.messages(place) == []
    [offered] = await ann.autocomplete("conversations delete", "conversation", "", channel=ann.direct_channel)
    asked = await ann.slash("conversations delete", channel=ann.direct_channel, conversation=offered["value"])
    await double.until(lambda: "permanently" in asked.text)
    assert "thread" not in asked.text


async def test_there_too_a_press_on_the_books_card_is_the_first_question(
    double: DiscordDouble, bot: Online, ann: Actor
) -> None:
    place = foreign_channel(double, ann)
    added = await add(double, ann, place, "The Lamp")
    await double.until(lambda: added.message.buttons)
    assert [button.label for button in added.message.buttons][:2] == ["Contents", "How does the book begin?"]
    bot.model.say("It begins with a lamp.")
    pressed = await ann.click(added.message, label="How does the book begin?")
    await double.until(lambda: "It begins with a lamp." in pressed.text)
    assert pressed.ephemeral
    assert double.messages(place) == []
