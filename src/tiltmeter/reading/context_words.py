"""Closed lists of English words that decide whether a sentence is free of gender and names.

Lower-cased. `GENDERED` follows common use: words of persons that tell a gender, and the pronouns;
"guys" and "dude" are among them, "nurse" and "soldier" are not. `CAPITALISED` are words that
English writes with a capital and that name no person: days, months, feasts, peoples, faiths and
parties. Countries and towns are not among them: they are names, too. `STARTING` are the words a
sentence may begin with that WordNet, a list of nouns, verbs, adjectives and adverbs, lacks.
"""

from __future__ import annotations

__all__ = ["CAPITALISED", "GENDERED", "STARTING"]

_PRONOUNS = "he him himself his she her hers herself s/he he/she him/her his/her"

_PERSONS = (
    "man men woman women boy boys girl girls male males female females lady ladies gentleman "
    "gentlemen guy guys dude dudes lad lads lass lasses gal gals bloke blokes chap chaps maiden "
    "maidens mr mrs ms mister missus sir madam maam mademoiselle senor senora"
)

_KIN = (
    "mother mothers father fathers mom moms mum mums mommy mummy mama dad dads daddy papa son "
    "sons daughter daughters brother brothers sister sisters husband husbands wife wives uncle "
    "uncles aunt aunts auntie nephew nephews niece nieces grandmother grandmothers grandfather "
    "grandfathers grandma grandpa granny grandson grandsons granddaughter granddaughters "
    "stepmother stepfather stepson stepdaughter stepbrother stepsister godmother godfather "
    "motherhood fatherhood sisterhood brotherhood motherly fatherly maternal paternal girlfriend "
    "girlfriends boyfriend boyfriends fiance fiancee bride brides bridegroom groom grooms widow "
    "widows widower widowers bachelor bachelors bachelorette spinster"
)

_ROLES = (
    "king kings queen queens prince princes princess princesses duke dukes duchess duchesses "
    "baron baroness countess emperor empress goddess goddesses heroine heroines heiress actress "
    "actresses waitress waitresses waiter waiters hostess hostesses stewardess stewardesses "
    "landlord landlords landlady mistress mistresses nun nuns monk monks priestess headmaster "
    "headmistress schoolboy schoolboys schoolgirl schoolgirls cowboy cowboys cowgirl ballerina "
    "housewife housewives midwife midwives seamstress tomboy manly womanly masculine feminine "
    "masculinity femininity manhood womanhood boyhood girlhood boyish girlish"
)

#: Those that end in -man, -woman, -men or -women; "human" and "German" tell no gender.
_TRADES = (
    "business chair congress council country craft crafts camera clergy door fire fisher fore "
    "front handy hench hit horse lay mail middle milk noble police post repair sales sea serve "
    "service show sports spokes states stunt trades watch weather work yes anchor assembly"
)

GENDERED = frozenset(
    (
        *" ".join((_PRONOUNS, _PERSONS, _KIN, _ROLES)).split(),
        *(
            trade + ending
            for trade in _TRADES.split()
            for ending in ("man", "men", "woman", "women")
        ),
    )
)

CAPITALISED = frozenset(
    (
        "i monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
        "thursdays fridays saturdays sundays january february march april may june july august "
        "september october november december christmas easter thanksgiving halloween ramadan "
        "diwali eid hanukkah passover lent advent sabbath earth internet web english french "
        "german spanish italian portuguese dutch swedish norwegian danish finnish polish russian "
        "ukrainian greek turkish arabic arab hebrew persian iranian indian hindi urdu chinese "
        "japanese korean vietnamese thai african american asian european australian canadian "
        "mexican brazilian british scottish irish welsh roman latin western eastern northern "
        "southern victorian medieval renaissance christian christians christianity catholic "
        "catholics catholicism protestant protestants protestantism orthodox jewish jew jews "
        "judaism muslim muslims islam islamic islamist hindu hindus hinduism buddhist buddhists "
        "buddhism sikh sikhs taoism taoist mormon mormons methodist baptist lutheran anglican "
        "presbyterian evangelical bible bibles biblical gospel scripture scriptures torah quran "
        "koran talmud god gods church democrat democrats democratic republican republicans "
        "republicanism conservative conservatives liberal liberals labour tory tories green "
        "greens marxist marxism socialist communist capitalist fascist nazi libertarian senate "
        "congress parliament constitution"
    ).split()
)

STARTING = frozenset(
    (
        "a an the this that these those my your our their its whose which what who whom we you "
        "they it i me us them one each every either neither both all any some no none nobody "
        "nothing everyone everybody everything someone somebody something anyone anybody "
        "anything and but or nor so yet for if unless until while whereas when whenever where "
        "wherever because since although though as than once whether after before during despite "
        "without within with among amongst amid around at by from in into of off on onto over "
        "through throughout to toward towards under upon via beyond between behind beneath "
        "beside besides against across along above below about how why however could should "
        "would might must can may will shall did does do is are was were have has had be been "
        "being not let another other others such many much more most few fewer less least "
        "several enough themselves ourselves yourself yourselves myself itself oneself rather "
        "instead don doesn didn isn aren wasn weren hasn haven hadn couldn wouldn shouldn won"
    ).split()
)
