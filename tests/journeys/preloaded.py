"""The last that the process loads from which the command line is forked: what each would make anew is made once."""

import gc

from domain.citations.page_numbers import TypedPages

TypedPages(lambda *_: False).remove("Page one, on 25. It is (38 below).")  # compiles patterns for half a second
gc.collect()
gc.freeze()  # a collection in a forked process would copy all of it, by looking at it
