"""Questions whose answer depends on who asks."""

from __future__ import annotations

import re

from langchain_semcache.guards._reading import read

_THING = (
    r"(?:bank |account |credit |card |current |latest |last |next |recent |upcoming |open |"
    r"pending |total |outstanding |remaining |online |monthly |phone |electricity |most recent |"
    r"first |own )*"
    r"(?:balances?|orders?|subscription|bills?|invoices?|payments?|refunds?|packages?|parcels?|"
    r"shipments?|delivery|deliveries|bookings?|reservations?|appointments?|tickets?|claims?|"
    r"applications?|salary|pay ?check|pay ?slips?|credit score|score|points|rewards|usage|quota|"
    r"plan|limit|grades?|schedule|calendar|meetings?|transactions?|spending|statement|contract|"
    r"membership|purchases?|flights?|luggage|package|deposit|transfer|messages?|e-?mails?|alarms?|"
    r"reminders?|to-?do list|shopping list|playlist|due date|interest rate|tier|data allowance)"
)
_SELF = (
    r"(?:full |first |last |current |own |user ?)?(?:name|location|age|birthday|address|"
    r"ip(?: address)?|user ?id|account number|username|phone number|e-?mail(?: address)?|job|"
    r"time ?zone|favou?rite \w+)"
)
_PERSONAL = re.compile(
    rf"^(?:so |hey |hi |hello |please )*(?:"
    rf"what(?:'s| is|s| are| was| were) (?:on |in )?my (?:{_THING}|{_SELF})(?: (?:now|today|"
    r"right now|currently|at the moment|status|this \w+|next \w+|for \w+|due|so far|left))?$"
    rf"|where(?:'s| is| are|s) my {_THING}\b(?! (?:settings|page|history|button|folder|tab))"
    r"|where am i(?: now| right now)?$|who am i$|what time zone am i in$"
    rf"|(?:has|have|did|was|were|is|are) my {_THING} (?:been |be )?(?:shipped|arriv\w+|approved|"
    r"gone? through|processed|paid|delivered|cancell?ed|confirmed|ready|here|due|overdue|late|"
    r"on (?:its|the) way|received|refunded|active|still active|sent|dispatched|accepted)\b"
    rf"|when(?:'s| is| are| will| does| do| was| did) my {_THING}\b"
    rf"|(?:can you |could you )?(?:show|check|list|give|tell|track|display|read|look up|find|get)"
    rf"(?: me)? (?:all )?(?:of )?my {_THING}(?: status)?"
    rf"(?: (?:please|now|today|for \w+|this \w+))?$"
    rf"|how much (?:money )?(?:do i (?:owe|have (?:in|on|left))|did i (?:spend|pay|earn)|have i "
    rf"(?:spent|paid|used)|is (?:left |in |on )+my )|how much is my {_THING}$"
    r"|how many [\w ]{0,20}?(?:do i (?:still )?have(?! to\b)|did i|have i)\b"
    r"|do i have (?:any|an?) (?:\w+ )?(?:new|unread|upcoming|pending|meeting|appointment|message|"
    r"e-?mail|order|alarm|event|flight|reminder|outstanding)"
    r"|what (?:did|have) i (?:just |last )*(?:say|said|ask|asked|buy|bought|order|ordered|"
    r"spend|spent|tell you|told you|watch|watched)\b"
    r"|when did i (?:last|order|buy|pay|join|sign up|book)\b"
    r"|(?:what do you|do you) (?:know about me|remember (?:me|my|about me))|do you know my name"
    r"|am i (?:eligible|logged in|verified|subscribed|approved|overdrawn|still a member|on the \w+ "
    r"plan)\b(?! (?:for|if|when|to)\b)"
    r")"
)
_HAN_THING = (
    r"(?:银行|账户|信用卡|手机|最近|上一?个|本月|这个月|当前|可用|剩余)?(?:的)?"
    r"(?:订单|快递|包裹|余额|账单|工资|积分|话费|流量|额度|退款|预约|预订|机票|航班|成绩|分数|"
    r"欠款|贷款|保单|工单|套餐|会员|优惠券|申请|年假|行程|日程|物流|欠费)"
)
_HAN_PERSONAL = re.compile(
    rf"我的?{_HAN_THING}(?:现在|目前|已经|都|还)?(?:到哪|在哪|到了|发货|到货|什么时候|何时|是?多少|"
    r"还有多少|还剩|剩多少|有多少|几时|状态|情况|进度|审核|通过|到账|是什么|有哪些|送到|怎么还没)"
    rf"|^(?:请|麻烦)?(?:帮我)?(?:查一?下|查询|查看|查查|看看|看一?下|显示)(?:一下)?我的?{_HAN_THING}[吧呢啊。]?$"
    r"|我是谁[啊呀呢吗]?$|^(?:你知道)?我叫什么|我的名字(?:是|叫)什么|^我(?:现在)?在哪(?:里|儿)?[啊呀呢]?$"
    r"|我(?:还)?(?:欠|剩|有)(?:了)?多少(?:钱|话费|流量|积分|年假|额度)|我(?:刚才|刚刚|上次)(?:说|问|买)了?(?:什么|啥)"
    r"|我今天有(?:什么|哪些|几个)(?:会议?|安排|日程)"
)
_HAN_GENERAL = re.compile("如何|怎样|怎么(?!还没)|咋|为什么|为啥|为何|什么意思|怎么办")


def personal(question: str) -> bool:
    """Whether only the one who asks can be answered: "where is my order", "what is my name".

    Precise rather than complete: a question about a procedure ("how do I cancel my order") or a
    reason is not personal, and neither is anything in doubt.
    """
    reading = read(question)
    text = reading.core
    if reading.has_han:
        return bool(_HAN_PERSONAL.search(text)) and not _HAN_GENERAL.search(text)
    return bool(_PERSONAL.search(text))
