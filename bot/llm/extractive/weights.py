"""What each feature of a candidate counts.

Fitted by softmax regression (the right sentence against all others that were found; L2 3.0, rounded) on the 2,232
questions on ft_firstround and ft_norwegian, checked on the 2,493 on two other books: `benchmarks/extractive.py` prints
both. Exchanging the roles of the books changes no weight by much.
"""

WEIGHTS: dict[str, float] = {
    # Where the question's words stand.
    "wide": 3.5,
    "behind": 2.2,
    "pairs": 0.6,
    "names": -0.5,
    "standing": 2.3,
    "length": 0.6,
    # What is seldom an answer.
    "is speech": -0.2,
    "is question": -0.6,
    # Questions with a clause that says when or because of what.
    "main clause": 0.5,
    "after setting": 1.0,
    # Signs of the kind of answer that is wanted.
    "number": 1.5,
    "counted": 1.1,
    "measured": 0.5,
    "time": 0.7,
    "place": 0.6,
    "feeling": 2.6,
    "speech": 0.4,
    "new name": 0.7,
    "naming": 0.4,
    # Signs of a reason.
    "reason": 0.3,
    "because": 0.3,
    "purpose": 0.3,
    "hence follows": 0.4,
    # Introductions: set by hand, as the questions behind the others hardly ever ask who somebody is.
    "introduced": 1.2,
    "first named": 0.8,
    "only speaks": -0.8,
}
