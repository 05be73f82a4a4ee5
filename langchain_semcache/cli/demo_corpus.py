"""What the customers of a small shop ask in one morning, and what its model would answer.

Each line is (text, intent, kind). Questions with one intent have one right answer; whatever is
served is compared with it. The kinds from NUMBER on are traps: close to a question that was asked
before, and not to be answered from it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    NEW = "new"
    REPEAT = "repeat"
    REWORDED = "reworded"
    NUMBER = "other number"
    NAME = "other name"
    PERIOD = "other period"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    DIRECTION = "direction"
    LANGUAGE = "other language"

    @property
    def is_trap(self) -> bool:
        """Whether a question of this kind must not be answered from a neighbour."""
        return self not in {Kind.NEW, Kind.REPEAT, Kind.REWORDED}


class Ask(NamedTuple):
    text: str
    intent: str
    kind: Kind


SYSTEM = "You are the support assistant of Fjord & Co. Answer briefly, in the customer's language."

STREAM = (
    Ask("How do I reset my password?", "password", Kind.NEW),
    Ask("Where is order 4471?", "order 4471", Kind.NEW),
    Ask("How do I cancel my subscription?", "cancel", Kind.NEW),
    Ask("退款多久到账？", "退款时间", Kind.NEW),
    Ask("How can I reset my password?", "password", Kind.REWORDED),
    Ask("What does the standard plan cost per month?", "standard month", Kind.NEW),
    Ask("How long does a refund take?", "refund time", Kind.LANGUAGE),
    Ask("Where is order 4472?", "order 4472", Kind.NUMBER),
    Ask("订单 8825 发货了吗？", "订单 8825", Kind.NEW),
    Ask("How do I turn on two-factor authentication?", "2fa on", Kind.NEW),
    Ask("Where is order 4471?", "order 4471", Kind.REPEAT),
    Ask("I want to end my subscription, what do I have to do?", "cancel", Kind.REWORDED),
    Ask("退款一般几天能到账？", "退款时间", Kind.REWORDED),
    Ask("What does the premium plan cost per month?", "premium month", Kind.NAME),
    Ask("Can I return shoes that I have already worn?", "worn shoes", Kind.NEW),
    Ask("I forgot my password, how can I get a new one?", "password", Kind.REWORDED),
    Ask("How do I turn off two-factor authentication?", "2fa off", Kind.OPPOSITE),
    Ask("怎么取消订阅？", "取消订阅", Kind.LANGUAGE),
    Ask("How much is the standard plan a month?", "standard month", Kind.REWORDED),
    Ask("Do you deliver to Norway?", "norway", Kind.NEW),
    Ask("订单 8826 发货了吗？", "订单 8826", Kind.NUMBER),
    Ask("How do I reset my password?", "password", Kind.REPEAT),
    Ask("How do I move photos from my phone to the cloud?", "phone to cloud", Kind.NEW),
    Ask("Can you tell me where order 4471 is right now?", "order 4471", Kind.REWORDED),
    Ask("如何开启自动续费？", "开启续费", Kind.NEW),
    Ask("Do you deliver to Sweden?", "sweden", Kind.NAME),
    Ask("How can I enable two-factor authentication?", "2fa on", Kind.REWORDED),
    Ask("怎样才能取消我的订阅？", "取消订阅", Kind.REWORDED),
    Ask("Can I get a refund after 14 days?", "refund 14", Kind.NEW),
    Ask("How do I move photos from the cloud to my phone?", "cloud to phone", Kind.DIRECTION),
    Ask("会员一个月多少钱？", "会员一月", Kind.NEW),
    Ask("Why was my card charged?", "charged", Kind.NEW),
    Ask("如何关闭自动续费？", "关闭续费", Kind.OPPOSITE),
    Ask("Is delivery to Norway possible?", "norway", Kind.REWORDED),
    Ask("Where can I download my invoice?", "invoice", Kind.NEW),
    Ask("Can I get a refund after 30 days?", "refund 30", Kind.NUMBER),
    Ask("Can I return shoes that I have not worn?", "new shoes", Kind.NEGATION),
    Ask("How do I cancel my subscription?", "cancel", Kind.REPEAT),
    Ask("我的 8825 号订单寄出了没有？", "订单 8825", Kind.REWORDED),
    Ask("Why was my card not charged?", "not charged", Kind.NEGATION),
    Ask("How do I renew my subscription?", "renew", Kind.OPPOSITE),
    Ask("怎样打开自动续费功能？", "开启续费", Kind.REWORDED),
    Ask("Is version 2.4 compatible with Windows 11?", "2.4 on 11", Kind.NEW),
    Ask("How can I transfer photos from my phone to the cloud?", "phone to cloud", Kind.REWORDED),
    Ask("从北京寄到上海要几天？", "北京到上海", Kind.NEW),
    Ask("Is version 2.5 compatible with Windows 11?", "2.5 on 11", Kind.NUMBER),
    Ask("How do I get a PDF of my invoice?", "invoice", Kind.REWORDED),
    Ask("退款多久到账？", "退款时间", Kind.REPEAT),
    Ask("The app crashes when I open it, what should I do?", "crash", Kind.NEW),
    Ask("会员一年多少钱？", "会员一年", Kind.PERIOD),
    Ask("What does the standard plan cost per year?", "standard year", Kind.PERIOD),
    Ask("从上海寄到北京要几天？", "上海到北京", Kind.DIRECTION),
    Ask("Does version 2.4 work with Windows 11?", "2.4 on 11", Kind.REWORDED),
    Ask("Can I pay with PayPal?", "paypal", Kind.NEW),
    Ask("可以开发票吗？", "发票", Kind.LANGUAGE),
    Ask("What can I do if the app keeps crashing at startup?", "crash", Kind.REWORDED),
    Ask("Is version 2.4 compatible with Windows 10?", "2.4 on 10", Kind.NUMBER),
    Ask("孕妇可以用这款面霜吗？", "孕妇面霜", Kind.NEW),
    Ask("Do you accept PayPal?", "paypal", Kind.REWORDED),
    Ask("How much is 100 dollars in euros?", "dollars in euros", Kind.NEW),
    Ask("能给我开一张发票吗？", "发票", Kind.REWORDED),
    Ask("Why did you charge my card?", "charged", Kind.REWORDED),
    Ask("Can I pay with Apple Pay?", "apple pay", Kind.NAME),
    Ask("从北京到上海寄快递需要多长时间？", "北京到上海", Kind.REWORDED),
    Ask("How do I turn on two-factor authentication?", "2fa on", Kind.REPEAT),
    Ask("How much is 100 euros in dollars?", "euros in dollars", Kind.DIRECTION),
    Ask("你们的客服电话是多少？", "客服电话", Kind.NEW),
    Ask("怀孕期间能用这款面霜吗？", "孕妇面霜", Kind.REWORDED),
    Ask("What are your support hours?", "hours", Kind.NEW),
    Ask("孕妇不可以用这款面霜吗？", "孕妇不可", Kind.NEGATION),
    Ask("When is customer support available?", "hours", Kind.REWORDED),
    Ask("月度会员的价格是多少？", "会员一月", Kind.REWORDED),
    Ask("What is your support phone number?", "phone number", Kind.LANGUAGE),
    Ask("Is it possible to send back shoes after wearing them?", "worn shoes", Kind.REWORDED),
    Ask("客服的联系电话是什么？", "客服电话", Kind.REWORDED),
    Ask("Do you deliver to Norway?", "norway", Kind.REPEAT),
    Ask("三岁的孩子可以用这款面霜吗？", "孩子面霜", Kind.NAME),
    Ask("如何开启自动续费？", "开启续费", Kind.REPEAT),
)

ANSWERS = {
    "password": "Open Settings, choose Security, then Reset password. A link comes by email.",
    "order 4471": "Order 4471 left our warehouse yesterday and arrives on Thursday.",
    "order 4472": "Order 4472 is being packed and leaves tomorrow.",
    "cancel": "Open Billing and choose Cancel plan. It stays active to the end of the month.",
    "renew": "Open Billing and choose Renew. Nothing is lost if you do it within 90 days.",
    "standard month": "The standard plan costs 12 euros a month.",
    "standard year": "The standard plan costs 120 euros a year, two months less than monthly.",
    "premium month": "The premium plan costs 29 euros a month.",
    "refund time": "A refund is on your account three to five working days after we confirm it.",
    "refund 14": "Yes. Within 14 days you may return anything without a reason.",
    "refund 30": "After 30 days only faulty goods are refunded.",
    "2fa on": "Open Security, choose Two-factor, scan the code and confirm with six digits.",
    "2fa off": "Open Security, choose Two-factor, then Remove, and confirm with your password.",
    "worn shoes": "Shoes that were worn outside cannot be returned, unless they are faulty.",
    "new shoes": "Yes. Unworn shoes in their box can be returned within 30 days.",
    "norway": "Yes, to all of Norway, in four to six days for 9 euros.",
    "sweden": "Yes, to all of Sweden, in three to four days for 6 euros.",
    "phone to cloud": "Select the photos on the phone, tap Share, then Upload to cloud.",
    "cloud to phone": "Open the album in the cloud, select the photos, then Download to device.",
    "charged": "Your plan renews on the first of the month; the receipt is under Billing.",
    "not charged": "The payment is still pending. It is booked within two working days.",
    "invoice": "Every invoice is under Billing, Documents, as a PDF.",
    "2.4 on 11": "Yes, version 2.4 runs on Windows 11.",
    "2.5 on 11": "Version 2.5 runs on Windows 11 from build 22631 on.",
    "2.4 on 10": "Yes, version 2.4 runs on Windows 10, for the last time.",
    "crash": "Update to the newest version; if it still crashes, clear the cache in Settings.",
    "paypal": "Yes, PayPal is accepted in every country we deliver to.",
    "apple pay": "Apple Pay works in the app, not yet on the website.",
    "dollars in euros": "At today's rate of the shop, 100 dollars are 92 euros.",
    "euros in dollars": "At today's rate of the shop, 100 euros are 108 dollars.",
    "hours": "We are here from 8 to 20 o'clock, Monday to Saturday.",
    "phone number": "Call 0800 555 010, free of charge.",
    "退款时间": "确认退款后，一般三到五个工作日到账。",
    "订单 8825": "订单 8825 已于昨天发货，预计周四送达。",
    "订单 8826": "订单 8826 正在打包，预计明天发货。",
    "取消订阅": "打开“账单”，选择“取消订阅”，当月内仍可继续使用。",
    "开启续费": "打开“账单”，把“自动续费”开关打开即可。",
    "关闭续费": "打开“账单”，把“自动续费”开关关上即可，已付费用不退。",
    "会员一月": "会员每月 30 元。",
    "会员一年": "会员每年 298 元。",
    "北京到上海": "从北京寄到上海，一般两天送达。",
    "上海到北京": "从上海寄到北京，一般三天送达。",
    "发票": "可以。在“账单”里选择“开具发票”，当天发到邮箱。",
    "孕妇面霜": "不建议。这款面霜含有视黄醇。",
    "孕妇不可": "是的，孕期不可以使用，里面含有视黄醇。",
    "孩子面霜": "不可以，这款面霜只适合成人。",
    "客服电话": "客服电话是 400-555-0100，免费拨打。",
}
