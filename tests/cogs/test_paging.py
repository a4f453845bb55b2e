"""Pages: every item on one, in order, whatever number an old button carries."""

from hypothesis import given
from hypothesis import strategies as st

from cogs.interactions import page_of


@given(st.lists(st.integers(), max_size=60), st.integers(1, 15))
def test_the_pages_are_the_list(items: list[int], size: int) -> None:
    count = page_of(items, 1, size).count
    pages = [page_of(items, number, size) for number in range(1, count + 1)]
    assert [item for page in pages for item in page.items] == items
    assert all(len(page.items) <= size for page in pages)


@given(st.lists(st.integers(), max_size=60), st.integers(-99, 99))
def test_a_page_that_is_not_there_is_the_nearest(items: list[int], number: int) -> None:
    page = page_of(items, number)
    assert 1 <= page.number <= page.count
    assert not items or page.items
