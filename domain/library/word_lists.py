"""English words that carry no meaning of their own in a question, and forms that no rule brings together."""

_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from further had
    hadn't has hasn't have haven't having he her here hers herself him himself his how i if in into is isn't it it's its
    itself just let's me more most mustn't my myself no nor not of off on once only or other ought our ours ourselves
    out over own same shall shan't she should shouldn't so some such than that that's the their theirs them themselves
    then there there's these they this those through to too under until up upon us very was wasn't we were weren't what
    what's when where which while who who's whom whose why will with won't would wouldn't you your yours yourself
    yourselves i'm i'd i'll i've he's he'd he'll she's she'd she'll you're you'd you'll you've we're we'd we'll we've
    they're they'd they'll they've o s t d m ll re ve
"""

STOP_WORDS = frozenset(_STOP_WORDS.split())

_IRREGULAR = """
    agree agreed; arise arose arisen; awake awoke awoken; bear bore borne; beat beaten; become became; begin began
    begun; bend bent; bind bound; bite bit bitten; blow blew blown; break broke broken; bring brought; build built;
    burn burnt; buy bought; catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig
    dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; dwell dwelt; eat ate eaten; fall fell
    fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden;
    forget forgot forgotten; forgive forgave forgiven; free freed; forsake forsook forsaken; freeze froze frozen;
    get got gotten; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold
    held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt; learn learnt; leave
    left; lend lent; light lit; lose lost; make made; mean meant; meet met; mistake mistook mistaken; overcome
    overcame; overhear overheard; pay paid; ride rode ridden; ring rang rung; rise rose risen; run ran; say said;
    see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; show shown; shrink
    shrank shrunk; sing sang sung; sink sank sunk; sit sat; slay slew slain; sleep slept; slide slid; sling slung;
    smell smelt; sow sown; speak spoke spoken spake; spend spent; spill spilt; spin spun; spring sprang sprung;
    stand stood; steal stole stolen; stick stuck; sting stung; stride strode; strike struck stricken; strive strove
    striven; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing swung; take took taken; teach
    taught; tear tore torn; tell told; think thought; throw threw thrown; tread trod trodden; understand understood;
    wake woke woken; wear wore worn; weave wove woven; weep wept; win won; wind wound; withdraw withdrew withdrawn;
    wring wrung; write wrote written; child children; man men; woman women; foot feet; tooth teeth; goose geese;
    mouse mice; ox oxen; wolf wolves; wife wives; knife knives; life lives; leaf leaves; thief thieves; elf elves;
    shelf shelves; half halves; calf calves; loaf loaves; self selves; brother brethren; die dying died dies; lie
    lying lain; tie tying; good better best; bad worse worst
"""

IRREGULAR_FORMS = {form: entry.split()[0] for entry in _IRREGULAR.split(";") for form in entry.split()[1:]}
"""An irregular form and the word it is searched as."""
