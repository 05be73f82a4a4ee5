"""The word lists of this package: which words name nothing by themselves."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a list that is written for reading."""
    return frozenset(text.split())


ENGLISH_FUNCTION = words(
    """
    a about absolutely across after again against all almost along already also although always am
    among an and another any anyone anything april are aren't around as ask at august be because
    been before being besides between bit both but by called came can can't come comes
    congratulations cool could course d december delicious did didn didn't do does doesn doesn't
    doing don don't done down during each eight either eleven else enough even ever every everybody
    february few find fine first five for four friday from gave get gets give gives glad gladly go
    goes going gone good got great had has have having he he's hello help her here hey hi him his
    how how's however hundred i i'd i'll i'm i've if in instead into is isn isn't it it's its
    january july june just keep kind know knows last least less let let's lets like likes ll look
    looking looks lot lots lovely m made make makes many march may maybe me mean means might mine
    monday more most much must my name named need needs neither never next nice nine no nobody nor
    not nothing november now october of off often ok okay on one ones only onto or other others our
    ours out over own per perhaps please put quite rather re really right s said same saturday say
    says see september seven several shall she she's should show since six so some someone
    something sometimes sorry sort still such sunday sure t take takes tell ten than thank thanks
    that that's the their theirs them then there there's these they they're thing things think this
    those though thousand three through thursday to today too took toward towards try tuesday
    twelve two under until up upon us use used uses using usually ve very via want wants was wasn't
    way we we'd we're wednesday welcome well went were what what's when where where's which while
    who who's whom whose why will with within without won't wonderful would yes yet you you'd
    you're your yours
    """
)
"""Words that neither name a thing nor say what is asked about it."""

ENGLISH_COMMON = words(
    """
    ability able accept access account act action active activity actual actually add address admit
    admits adult advance advice affect afraid afternoon age ago agree air alive allow allowed alone
    amazing amount animal animals announce answer anymore apart apartment apply approximately area
    arm around arrange arrive art ate attack attention aunt available average avoid away baby back
    bad badly bag bake baking ball band bank base bath bathroom beach beautiful become bed bedroom
    begin beginner bell belong below belt best better big bigger biggest bill bird birds birthday
    black block blue boat body boil boiling book booked booking boot born boss bottle bottom box
    boy boys brain bread break bridge bright bring broken brother brown build built burn bus busy
    button buy call camera cancel capable car card care case catch cause cent center centre chair
    chance change charge chat cheap check cheese chemical chicken child children choice choose
    church circle city class classes classic clean clear climb clock close closed closer cloth
    clothes coat coffee cold collect college color colour comfortable command common community
    company compare computer concern condition connect connection consider contact contain contains
    continue contract control cook cooked cool corner correct cost costs country couple course
    court cover create crowd crowded cry culture cup currency current currently customer customers
    cut daily damage dance danger dangerous dark data date daughter day days dead deal death decide
    decision deep degree delete deliver delivered delivery department depend describe design desk
    detail details develop development device die difference different difficult dinner direct
    direction dirty discover discovered discuss disease dish dishes doctor document dog dollar
    dollars door doubt download draft dream dress dressing dried drink drinks drive driving drop
    drug dry dust duty ear early earn earth easier easily east easy eat eats edge education effect
    effort egg eggs either electric element email emergency employee empty end energy engine
    engineer enjoy enter entire equal equipment error escape especially euro euros evening event
    exactly exam example examples excellent except excited exercise expect expensive experience
    expert explain extra eye eyes face fact fail fair fall family famous far farm fast father fault
    favorite favourite fear feature fee feel feeling female fever field fight figure file fill film
    final finally find fine finger finish fire fish fit fix flat flight flights floor flower
    flowers fly fold follow follows food foods foot force foreign forget forgot form formal forward
    fought fox free freedom freeze fresh fried friend friends front fruit full fun function
    furniture future game games garden gas general germ gift girl girls glad glass gold government
    grade grandma grandmother grandpa grass gray great green grey ground group grow guess guest
    guide guy hair half hall hand handle happen happened happens happy hard harmless hat hate head
    headache health healthy hear heart heat heaven heavy height hide high hill hire history hit
    hobby hold hole holiday holidays home honest hope horse hospital hot hour hours house hungry
    hurry hurt husband ice idea illness image immediately impact important improve include included
    includes increase industry information inside install installed interest interesting internet
    introduce invented invite issue item job join journey joy judge juice jump keep keeps kept kid
    kids kill kilo kind kitchen knife lack lady lake land lane language large largest late later
    laugh law lawyer lead leader leaf learn leather leave leaves left leg legal lend letter level
    library lie life lift light likely limited line link lips liquid list little live loan local
    location lock long look lose lost loud love low luck lucky lunch machine made mail main major
    male man manage manager map mark market marriage married master match material matter maximum
    maybe meal meaning measure meat media medical medicine medium meet melt member memory mention
    menu message metal method metre metres mid middle mile milk mind minor minute minutes miss
    mistake mix model modern moment money month monthly months mood moon morning mother motor
    mountain mouse mouth move movie music nail name named narrow nation national natural nature
    near nearby necessary neck neighbor neighbour neighbourhood nervous network new news newspaper
    nice night noise noisy normal north nose note notes notice number nurse obliged offer oil old
    online open opening opens operate opinion opposite option orange order ordered original outside
    oven owe own packed page paid pain paint painted paints pair pan paper parent parents park
    parking part particular partner party pass passenger passport past path patient pay peace pen
    pencil people pepper percent perfect perform person personal phone photo physical pick picture
    piece place plain plan plane planet plant plants plastic plate play player please plenty point
    police polite poor pop popular popularity position positive possible possibly post pot potato
    pound power practice prefer prepare present president press pressure pretty prevent price
    prices print printed private prize probably problem process produce product professional profit
    program project promise proper protect proud prove provide public publish published pull purple
    push quality quarter queen question questions quick quickly quiet quit race radio rain raise
    range rare reach read reader ready real reality realize reason reasonable receive recent
    recently recipe recommend recommended record recover red reduce refer refund refuse regular
    related relax religion remember remove rent repair reply report request require research
    reserve respect respond rest restaurant result return review rice rich ride ring rinse rise
    risk river road roast rock role roll roof room roughly rule run runs rush sad safe safety sail
    salad salary sale salt sand save scale school science scientist screen scrub sea search season
    seat second secret seem seems seen sell send senior sense sentence sentences separate serious
    serve server service set several shade shake shape share sharp sheet shine ship shipped shirt
    shoe shoes shoot shopping short shorten shoulder show sick sign similar simple sing single
    sister sit situation size skill skin skip sky sleep slight slow slowly small smallest smart
    smell smile smoke smooth snow social society soft soil sold solve son song sort sound soup sour
    source south space spare speak special specific speech spell spend spoon sport spot spots
    spread square stable stage stairs stand standard star stars start state station stay steal step
    steps stiff still stir stock stomach stone stop store storm story stove stranger stream street
    strong strongly structure student students study style subject success suddenly suffer sugar
    suggest suit summer sun supper support sure surface surprise sweet swim swollen table tail talk
    tall tallest task taste tax tea teach teacher team teeth television tend term terrible test
    text thank theatre theory thick thin third thought threat throw ticket tie tight time times
    tiny tip tired today tomorrow tonight tool tooth top topic total touch tough tour tourist towel
    town track trade traffic train training translate transport trash travel treat tree trees trial
    trick trip trouble truck true trust truth tube turn twice type types typical typically ugly
    uncle understand uniform union unique unit universe university unlikely upset upstairs useful
    user users usual valley varies vary vegetable vegetables vehicle version video view village
    violent visit voice volume vote wages wait wake walk walking wall war warm warn wash waste
    watch water weak wear weather website wedding week weekend weeks weigh welcome west wet wheel
    whisk white wide wife wild win wind window wine wing winter wise wish woman women won wonder
    wood wool word words work worker works world worried worry worse worst wound write written
    wrong wrote yard year years yesterday young zero zone
    """
)
"""Frequent words: they say something about a thing, but seldom which thing."""

ENGLISH_ATTRIBUTES = words(
    """
    address advantage advantages age alternative alternatives answer author benefit benefits
    birthplace breakfast calories capacity capital cause causes cost costs currency cure definition
    density deadline description diameter difference differences dimensions director disadvantage
    disadvantages dose dosage duration effect effects example examples fee fees formula founder
    function goal height history ingredient ingredients inventor language length limit limits
    location maximum meaning minimum origin owner parking password penalty pets phone population
    price prices procedure purpose rating reason reasons requirement requirements result results
    risk risks role rule rules score shape side size solution species speed status step steps
    substitute symptom symptoms pros cons synonym temperature ticket tickets time times title
    treatment treatments type types use uses value version warranty weight width adaptations
    members characteristics features protein fat sugar sequel plot cast lyrics album moons diet
    habitat lifespan expectancy wifi refund discount notice guarantee
    """
)
"""What is asked about a thing: a question with nothing else in it leaves the thing to the chat."""

HAN_FUNCTION = words(
    """
    的 了 吗 呢 吧 啊 呀 哦 噢 嗯 哈 嘛 啦 哎 诶 奥 喔 哟 唉 么 呗 咯 是 在 有 和 与 跟 及 或 也 都
    就 还 又 再 很 挺 太 更 最 不 没 别 被 把 让 给 对 向 从 到 去 来 要 想 会 能 可 该 应 说 看 问
    请 您 你 我 他 她 它 们 这 那 哪 谁 啥 几 个 些 得 着 将 则 而 且 但 因 为 由 于 以 所 其 此 每
    各 某 并 只 才 却 即 若 如 像 用 等 按 比 找 帮 查 订 住 吃 玩 买 叫 带 过 什么 怎么 怎样
    怎么样 如何 为何 为什么 多少 多久 多长 多大 多远 哪里 哪儿 哪些 哪个 哪家 哪年 哪位 哪种 几点
    几个 什么时候 什么样 是不是 有没有 能不能 可不可以 要不要 好不好 是否 咋样 咋 可以 可能 应该
    需要 必须 能够 不能 不会 不用 不要 没有 不是 还有 还是 只有 只是 就是 也是 都是 但是 不过 可是
    而且 并且 因为 所以 如果 虽然 然后 接着 另外 其他 其它 别的 其中 之一 以及 或者 这个 那个 这些
    那些 这里 那里 这儿 那儿 这边 那边 这样 那样 这么 那么 这家 那家 这部 那部 这首 这位 这座 这条
    这种 该家 它家 他家 她家 他们 她们 它们 我们 你们 大家 自己 本人 人家 别人 知道 觉得 认为 听说
    听过 了解 看过 去过 记得 告诉 推荐 建议 介绍 帮忙 麻烦 帮我 给我 请问 谢谢 不客气 抱歉 不好意思
    对不起 没问题 没关系 当然 确实 真的 真是 的确 其实 好像 似乎 据说 原来 非常 特别 十分 比较 有点
    一点 一些 一下 一个 一家 一种 一般 一直 一定 一样 一起 一共 大概 大约 左右 差不多 通常 平时
    最近 现在 今天 明天 昨天 今年 去年 明年 目前 刚才 刚刚 马上 已经 曾经 正在 以前 以后 之前 之后
    以上 以下 附近 周边 周围 旁边 边上 里面 外面 上面 下面 对面 地方 喜欢 打算 准备 想要 希望 想去
    想找 感觉 发现 符合 满足 条件 要求 提供 包括 包含 属于 位于 适合 具体 详细 主要 不错 很好 可惜
    厉害 哈哈 你好 您好 好的 好吧 好啊 行吧 可以的 是的 对的 对啊 对呀 对了 是啊 是呀 收到 明白
    清楚 原因 东西 事情 时候 问题 方面 情况 关于 对于 根据 按照 通过 除了 还要 还能 还会 还想 再见
    请你 请您 看看 说说 聊聊 问问 试试 逛逛 转转 值得 一去 查到 查查 查询 不知 不知道 不太 不少
    很多 许多 挺多 这么多 那么多 多个 各种 各个 全部 所有 整个 作为 成为 住宿 入住 用餐 吃饭 溜达
    溜达溜达 尝尝 安排 安排好 既然 从而 从此 真心 强烈 提前 规划 合适 需求 标准 之间 每次 之处 突然
    忽然 终于 总算 尤为 如今 至今 从来 向来 大清楚 成员 形容 称为 被称 称作 当作 看作 无数 一身
    一体 走走 溜溜 经常 往往 时常 偶尔 总是 仍然 依然 依旧 随时 随便 顺便 顺路 直接 只要 只能 不止
    不仅 不但 不光 同时 同样 相当 超级 挺不错 一次 一张 一本 一句 一句话 一名 一群 一圈 一辆 一会
    一会儿 一看 一听 两个 三个 两道 这道 那道 道菜 首歌 第一次 首张 第二张 年轻 熟悉 担任 收录 改编
    改编自 出版 讲述 讲的是 参加 出演 饰演 凭借 创作 负责 当年 那年 同年 后来 当时 从小 小时候 眼前
    眼光 能否 可否 考虑 选择 决定 感谢 多谢 辛苦 方便 联系 联系电话 号码 发给 发给我 留个 记下
    记一下 放心 难怪 怪不得 缘份 缘分 有缘 厉害了 满意 唯一 任何 内部 外部 正式 疏忽 发错 搞错 弄错
    无疑 点儿 完饭 吃完 吃完饭 溜达完 玩完 游完 逛完 看完 听完 买完 换一家 换一个 别处 无法 无需
    不需要 用不着 名气 有名气 影响力 才华 天才 能力 实力 势头 年纪 生于 来自 分为 组成 位置在 坐落
    位居 符合您 满足您 您要 你要 您的 你的 我的 他的 她的 它的 亲 哇 哇塞 天呐 天哪 妈呀 可以吗
    行吗 好吗 对吗 是吗 对不对 行不 行不行 成不成 可行 接受 能接受 支持 带着 陪着 跟着 随着 沿着
    朝着 为着 围着 得到 获得 荣获 获奖 大奖 进行 开始 结束 继续 完成 出来 起来 过来 下来 回来 进去
    一部 一位 一首 一条 一座 真好 太好 挺好 居然 竟然 果然 反正 到底 究竟 肯定 绝对 完全 基本 几乎
    而已 罢了 的话 正好 刚好 尤其 例如 比如 为您 为你 帮你 帮您 供您 看来 想知道 我想 您看 你看
    """
)
"""Words and particles between which names stand."""

HAN_ATTRIBUTES = words(
    """
    电话 地址 位置 门票 票价 价格 价钱 价位 多少钱 费用 收费 免费 评分 分数 评价 评论 时间 时长
    营业 营业时间 开放时间 开放 开门 关门 闭馆 人均消费 人均 消费 游玩时间 游玩 免票 类型 型号 规格
    颜色 大小 尺寸 重量 长度 高度 宽度 面积 体积 容量 速度 距离 温度 材质 成分 配料 产地 品牌 厂家
    保质期 身高 体重 年龄 岁数 生日 星座 国籍 民族 籍贯 职业 学历 毕业 毕业院校 血型 性别 爱好
    代表作 作品 成就 出生 出生地 出生日期 去世 结婚 导演 主演 演员 编剧 制片人 制片 出品 出品公司
    票房 剧情 片长 上映 上映时间 发行 发行时间 发行公司 作者 作词 作曲 编曲 填词 歌手 原唱 演唱
    专辑 歌词 谱曲 语言 风格 含义 意思 定义 名称 名字 别名 简介 介绍 特点 特色 优点 缺点 好处 坏处
    用途 作用 功能 用法 用量 剂量 副作用 症状 病因 疗法 做法 步骤 流程 方法 办法 例子 区别 原理
    历史 由来 来历 人口 语种 货币 气候 天气 交通 路线 停车 停车场 早餐 宽带 上网 房间 服务 设施
    推荐菜 招牌菜 特色菜 菜品 口味 成立 成立时间 创始人 总部 官网 网址 邮箱 客服 售后 保修 运费
    快递 物流 发货 退货 退款 优惠 折扣 活动 有效期 期限 年限 条款 手续 材料 资料 要求 限制 预约
    预订 预定 报名 注册 登录 密码 账号 订单 奖项 荣誉 拍摄 制片地区 地区 制作 上线 连载 集数 主题曲
    演出 首播 接待 酒水 价 钱 票 长时间 长 久 贵 便宜 远 近 高 低 快 慢
    """
)
"""What is asked about a thing."""

HAN_GENERIC = words(
    """
    酒店 宾馆 饭店 餐馆 餐厅 景点 景区 公园 广场 商场 超市 商店 医院 学校 大学 中学 小学 银行 公司
    机场 车站 地铁 地铁站 火车站 城市 国家 世界 中国 北京 上海 中心 大厦 大街 博物馆 纪念馆 图书馆
    体育馆 电影院 大剧院 电影 影片 片子 电视剧 节目 歌曲 音乐 专辑 乐队 小说 书 文章 故事 游戏 软件
    手机 电脑 汽车 出租车 车型 车牌 飞机 火车 自行车 房子 衣服 鞋子 食物 水果 蔬菜 药 产品 商品
    项目 系统 程序 文件 数据 代码 老师 学生 医生 孩子 小朋友 父母 妈妈 爸爸 朋友 家人 男人 女人
    名人 明星 人物 动物 植物 狗 猫 花 树 水 火 山 河 湖 海 建筑 古建筑 胡同 小吃 美食 菜 肉 喜剧
    爱情 剧情片 爱情片 喜剧片 经典 著名 知名 有名 出名 经济型 舒适型 高档型 豪华型 旅游 历史 文化
    艺术 游客 外宾 景色 风景 自然 环境 美丽 漂亮 好看 好玩 好吃 好听 味道 生活 工作 学习 时代 社会
    第一 第二 第三 最后 最佳 最高 最低 最大 最好 之一 小时 分钟 星期 周一 周二 周三 周四 周五 周六
    周日 旺季 淡季 成人 成人票 学生票 老人 半价 凭 有效 证件 身份证 参观 观看 欣赏 休息 散步 女朋友
    男朋友 女友 男友 老婆 老公 家里人 爷爷 奶奶 儿子 女儿 闺女 同学 同事 客人 本片 此片 该片 片名
    歌名 书名 动画 动画片 动画电影 动作片 科幻片 恐怖片 悬疑片 题材 结局 故事情节 小说家 作家 画家
    艺人 音乐人 歌手们 男歌手 女歌手 男演员 女演员 流行 流行音乐 民谣 摇滚 国语 粤语 英语 中文 法语
    德语 日语 韩语 台湾 香港 日本 韩国 美国 英国 法国 德国 俄罗斯 亚洲 欧洲 内地 大陆 国内 国外
    全国 全球 本地 当地 规模 第一名 冠军 亚军 提名 金曲奖 菜馆 饭馆 好点 酒楼 旅馆 民宿 商务 宽敞
    干净 卫生 便捷 热水 吹风机 健身房 接机 行李 行李寄存 无烟房 暖气 停车位 会议室 棋牌室 叫醒 市内
    洗衣 早点 点心 火锅 烤鸭 烧烤 面条 米饭 海鲜 甜点 咖啡 茶 酒 啤酒 饮料 春天 夏天 秋天 冬天 春节
    国庆节 假期 暑假 寒假 周末 工作日 节假日 清晨 傍晚 夜里 每天 每年 每月 每周 数字 号码 图片 照片
    视频 声音 颜值 眼睛 头发 皮肤 身体 健康 心情 感情 关系 家庭 婚姻 家乡 老家 房间号 经济 政治
    科学 技术 教育 体育 法律 军事 宗教 哲学 文学 设计 管理 市场 企业 行业 客户 用户 政府 部门 单位
    合同 保险 贷款 工资 税 钱包 银行卡 信用卡 会员 发票 账户 密码锁 网站 网络 电子邮件 短信 微信
    页面 按钮 晚饭 午饭 夜宵 晚餐 早饭 出发 到达 离开 中午 上午 下午 晚上 早上 全天 全年
    """
)
"""Nouns that many things share: they name something only together with other words."""

HAN_CUES = words("推荐 介绍 去 叫 知道 听说 了解 喜欢 看过 去过 听过 住 找到 选 对 像 就是 您 你")
"""Words after which a name is introduced."""

HAN_PARTICLES = frozenset(
    "的了吗呢吧啊呀哦噢嗯哈嘛啦哎诶奥喔哟唉么呗咯是你我他她它您们这那哪谁啥几个些不没很挺也都就还又再"
)
"""Single characters that are never part of a name; the other short function words may be."""
