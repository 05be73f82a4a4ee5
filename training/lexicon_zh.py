"""Chinese words and question families for `training.templates`, all written for this project."""

DIGIT = "零一二三四五六七八九"
LAST = """
王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗 梁 宋 郑 谢 韩 唐 冯 于 董 萧 程 曹 袁
邓 许 傅 沈 曾 彭 吕 苏 卢 蒋 蔡 贾 丁 魏 薛 叶 阎 余 潘 杜 戴 夏 钟 汪 田 任 姜 范 方 石 姚 谭 廖
邹 熊 金 陆 郝 孔 白 崔
""".split()
FIRST = """
小明 伟强 丽娜 芳华 建国 志远 雨桐 思琪 浩然 子轩 梓涵 欣怡 嘉豪 美玲 秀英 国栋 文静 海燕 春梅
晓东 大勇 玉兰 俊杰 雪梅 立群 佳怡 晨曦 宏伟 天宇 婉婷 若曦 一凡 书瑶 景行 子墨 慧敏 振华 红霞
桂芳 永康 少峰 丹丹 倩倩 乐乐 锦程 诗涵 明轩 可欣 安琪 博文 宇航 静怡 梦洁 凯文 泽楷 语嫣 志强
东升 长青 维民 清源 月华 淑贞 新宇 炳坤 亚男 雅琴 振宇 丽华 俊熙 雨泽 嘉怡 子涵 梦瑶 国强 建华
秋月 冬梅 文博 思远 晓峰 玉珍 金凤 世杰 鹏飞 瑞雪 依诺 紫萱 奕辰 沐阳 若兰 佩珊 家乐 启航 云飞
松涛 素芬 学文 德胜 光明 艳红 巧玲 诗雨 凌云 翠花 福生 卓然 心怡 向阳 念慈 承志 海波 靖宇 绍辉
仁杰 如意
""".split()
CITY = """
北京 上海 广州 深圳 成都 杭州 武汉 南京 西安 重庆 天津 苏州 长沙 青岛 厦门 昆明 大连 济南 郑州
沈阳 合肥 福州 南宁 贵阳 兰州 太原 哈尔滨 长春 海口 拉萨 银川 无锡 宁波 温州 珠海 洛阳 桂林 三亚
香港 台北 东京 首尔 巴黎 伦敦
""".split()
COUNTRY = """
中国 日本 韩国 法国 德国 英国 美国=美利坚合众国 加拿大 巴西 印度 泰国 越南 埃及 西班牙 意大利
葡萄牙 荷兰 瑞典 挪威 芬兰 波兰 希腊 土耳其 墨西哥 智利 秘鲁 新加坡 马来西亚 俄罗斯 澳大利亚=澳洲
新西兰 肯尼亚 爱尔兰 奥地利 瑞士
""".split()
JOB = """
医生=大夫 律师 教师=老师 工程师 厨师 司机 画家 歌手 演员 作家 记者 会计 护士 警察 农民 导演 翻译
编辑 摄影师 建筑师 程序员 设计师 飞行员 消防员 化学家 物理学家 诗人 舞蹈家 作曲家 牙医 法官 木匠
裁缝 理发师 保安 快递员
""".split()
ANIMAL = """
马 牛 羊 狗 猫 兔子 老虎 狮子 狐狸 狼 熊 大象 猴子 乌龟 鹦鹉 海豚 企鹅 骆驼 松鼠 刺猬 长颈鹿 斑马
""".split()
OBJECT = """
打印机 电脑 手机 路由器 台灯 自行车 照相机 合同 门票 服务器 电池 键盘 包裹 护照 耳机 显示器 洗衣机
冰箱 沙发 梯子 帐篷 行李箱 吉他 钢琴 水壶 烤箱 拖拉机 地毯 镜子 报告 数据库 表格 文件夹 发票
优惠券 传感器 充电器 投影仪 书桌 钱包 雨伞 榨汁机 话筒 望远镜 头盔 小提琴 窗户 窗帘 电梯 滑板车
枕头 篮子 蜡烛 信封 日记本 项链 指南针 铁锹 床垫 花瓶 计算器 手镯 摩托车 空调机 风扇
""".split()
PLACE = """
图书馆 仓库 医院 机场 港口 博物馆 学校 面包店 办公室 体育场 酒店 健身房 药店 剧院 实验室 车库 市场
停车场 食堂 银行
""".split()
SPOKEN = "英语 法语 德语 日语 韩语 俄语 西班牙语 阿拉伯语 泰语 葡萄牙语 意大利语 荷兰语".split()
TASK = """
光合作用 复利 水循环 梯度下降 黑洞 通货膨胀 递归 税收制度 板块运动 疫苗 公钥加密 供应链 时区
爵士乐 发酵 选举制度 太阳能电池 胰岛素 垃圾回收 潮汐 区块链 心理学 期权 碳中和
""".split()
GROUP = """
员工 会员 学生 工单 发票 用户 座位 房间 司机 订单 文件 测试 包裹 志愿者 病人 课程 列车 账号 供应商
章节 图片 设备 合同 客户 科室 传感器 站点 队员 评委
""".split()
EVENT = """
更新 重启 合并 选举 音乐会 洪水 审计 面试 午餐 停电 数据迁移 考试 婚礼 罢工 发布会 付款 假期 评审
暴风雨 培训 会议 搬家
""".split()
CAUSE = """
压力 失眠 通货膨胀 失业 森林砍伐 洪涝 贫困 犯罪 肥胖 疲劳 偏头痛 焦虑 污染 哮喘 干旱 饥荒 腐败
过热 丢包 地震 台风 火灾 内存泄漏 近视 脱发 贫血 塌方 拥堵 停电
""".split()
SCOPE = """
免费版里 企业版里 安卓上 苹果手机上 欧盟 巴西 加拿大 网页版里 周末 晚上 试用期内 春节期间 保修期内
海外 校园里
""".split()
FOR = """
学生 老人 儿童 新用户 访客 糖尿病人 孕妇 军人 残疾人 外国人 退休人员 游客 教师 企业客户
""".split()
THING = """
价格 颜色 重量 尺寸 上市时间 续航时间 保修期 作者 序列号 官网 客服电话 默认端口 许可证 开发商 图标
""".split()
ASPECT = """
退款 重置密码 打折 送货上门 停车证 签证 数据导出 共享账号 访客通行证 离线地图 免费升级 群聊
分期付款 发票 会员卡 维修 预约 贷款 证书 试听课 轮椅 收据 备用钥匙 行李额度 改名 月票 居住证 驾照
护照 奖学金 保险理赔 银行流水 代码审查
""".split()
AUDIENCE = """
小孩 初学者 专家 护士 老奶奶 律师 销售人员 大学新生 农民 投资人 程序员 记者 中学生 老板 青少年
牙医 游客 董事会 新同事 诗人 电工 店主 公务员 退休教师 生物学家 幼儿园老师
""".split()
SHAPE = """
用表格 用要点 用诗歌 用一句话 分两段 分步骤 用邮件的形式 用正式的语气 用幽默的语气 用口语 用比喻
用编号列表 用三个步骤 用对话 用歌词 用问答题 用打油诗 用简单的话 用专业术语 用书信的形式
用讲故事的方式 用图表
""".split()
WHEN = """
今天 昨天 前天 上周=上星期 上个月 去年 今年 周一=星期一 周五=星期五 中午 半夜 早上 晚上 春天 秋天
两天前
""".split()
SOON = "明天 后天 下周=下星期 下个月 周六=星期六 春天 今晚".split()
DAY = "周一=星期一 周二=星期二 周三=星期三 周四=星期四 周五=星期五 周六=星期六 周日=星期天".split()
RIDE = "坐火车 坐大巴 开车 骑车 坐船 坐出租车 坐高铁".split()
COST = "要多久 要花多少钱 有多难".split()
TIE = "夫妻 兄弟 邻居 表亲 朋友 对手 同学 同事 室友".split()
SHORT = """
世卫组织=世界卫生组织 北大=北京大学 奥运会=奥林匹克运动会 欧盟=欧洲联盟 人大=全国人民代表大会
央行=中央银行 高铁=高速铁路 社保=社会保险 世贸组织=世界贸易组织 清华=清华大学 地铁=地下铁路
空调=空气调节器 超市=超级市场 公积金=住房公积金 环保=环境保护 彩电=彩色电视机 春晚=春节联欢晚会
国足=中国国家男子足球队 科技部=科学技术部 联大=联合国大会 中行=中国银行 建行=中国建设银行
""".split()
VERB = """
批评 表扬=夸奖 邀请 打败=击败 采访 保护 欺骗=骗 拜访 感谢 责怪=责备 雇用=聘用 救=搭救 跟踪 起诉
推荐 提拔 解雇=开除 举报 安慰 嘲笑 误会 打伤 叫醒 抓住 羡慕 指导 威胁 攻击 逮捕 说服 提醒 赶走
忽视 催促 绊倒 惹怒 打断 模仿 照顾=照料 教训 出卖 介绍 考验 送走 埋葬 崇拜 推倒 追上 吓哭 逗笑
拉黑 喊住 淘汰 任命 审问 收养 赞助 贿赂 绑架 质疑 冒充
""".split()
ACT = """
批评 表扬 打败 骗 雇用 救 起诉 提拔 解雇 举报 打伤 叫醒 抓住 逮捕 说服 赶走 绊倒 惹怒 打断 出卖
送走 推倒 吓哭 逗笑 拉黑
""".split()
DO = """
打开:关闭 安装:卸载 锁定:解锁 启用:禁用 启动:停止 连接:断开 隐藏:显示 归档:恢复 上传:下载
导入:导出 加密:解密 压缩:解压 买:卖 租:退租 订阅:退订 添加:删除 置顶:取消置顶 绑定:解绑 发布:下架
收藏:取消收藏
""".split()
GRADE = """
大 小; 重 轻; 快 慢; 新 旧; 贵 便宜; 长 短; 热 冷; 宽 窄; 厚 薄; 吵 安静; 安全 危险; 亮 暗; 硬 软;
干净 脏
"""
HUMAN_GRADE = """
高 矮; 胖 瘦; 富 穷; 老 年轻; 聪明 笨; 强 弱; 勤快 懒; 勇敢 胆小; 大方 小气; 开朗 内向; 忙 闲;
耐心 急躁
"""
ADJ = """
便宜 廉价 / 昂贵 贵; 安全 / 危险; 简单 容易 / 困难 难; 干净 洁净 / 肮脏 脏; 公开 / 保密; 免费
不要钱 / 收费 要付费; 常见 普遍 / 罕见 少见; 坚固 结实 / 脆弱; 完整 完好 / 残缺; 清楚 清晰 / 模糊;
合法 / 违法 非法; 真实 真的 / 虚假 假的; 重要 要紧 / 次要; 方便 便利 / 麻烦; 先进 / 落后; 透明 /
不透明; 有毒 / 无毒; 自动 / 手动; 无线 / 有线; 临时 暂时 / 永久
"""
TRAIT = """
友好 友善 / 冷漠; 勇敢 / 胆小 怯懦; 有钱 富有 / 贫穷 穷; 诚实 / 虚伪; 有名 出名 知名 / 默默无闻;
已婚 / 未婚 单身; 高兴 开心 快乐 / 难过 伤心; 慷慨 大方 / 小气 吝啬; 礼貌 / 粗鲁; 懒惰 懒 / 勤奋
勤快; 聪明 / 愚蠢 笨; 谦虚 / 骄傲; 害羞 腼腆 / 外向; 耐心 / 急躁; 健康 / 生病 患病; 细心 仔细 /
粗心 马虎; 年轻 / 年老; 苗条 / 肥胖; 冷静 / 冲动
"""
UNIT = """
小时:60:分钟 分钟:60:秒 天:24:小时 周:7:天 年:12:个月 公里:1000:米 米:100:厘米 公斤:2:斤
升:1000:毫升
""".split()
LISTS = """
first last city country job animal object place spoken task group event cause scope for thing
aspect audience shape when soon day ride cost tie short verb act
""".split()
OPEN = """
请问，|请问|麻烦问下，|你好，|您好，|想问一下，|问一下，|有个问题：|请教一下，|我想知道，|
不好意思，|打扰了，|大家好，|急！|我是新来的，|我同事让我问：|各位，|顺便问一句，|
我叫{?last}{?first}。|我是{?city}的{?job}，想问：|朋友问我：|求助：
""".replace("\n", "").split("|")
PLAIN_OPEN = "你好，|您好，|大家好，|顺便说一句，|各位，|我是新来的，".split("|")
CLOSE = "谢谢|谢谢！|多谢|求解答|在线等|急|拜托了".split("|")

FAMILIES = """
@passive role
{name1}{act}了{name2}吗？
{name2}被{name1}{act}了吗？
{name1}把{name2}{act}了吗？
是{name1}{act}了{name2}吗？
~ name1 name2
@passive_statement role
{when}{name1}{act}了{name2}。
{name2}{when}被{name1}{act}了。
{name1}{when}把{name2}{act}了。
~ name1 name2
@why_passive role
{name1}为什么{verb}{name2}？
为什么{name1}[会|要|]{verb}{name2}[呢|啊|]？
{name1}{verb}{name2}的原因是什么？
~ name1 name2
@who role
谁{verb}了{name}？
是谁{verb}了{name}[呢|的|]？
{verb}{name}的人是谁？
--
{name}{verb}了谁？
被{name}{verb}的人是谁？
{name}{verb}的是谁？
@phone role
{name1}给{name2}打[了|过]电话吗？
{name2}接到[了|过]{name1}打来的电话吗？
{name1}[有没有|是不是]给{name2}打过电话？
~ name1 name2
@letter role
{when}{name1}给{name2}写了一封信。
{name2}{when}收到了{name1}写的一封信。
{name1}{when}写了一封信给{name2}。
~ name1 name2
@travel direction
从{city1}到{city2}{ride}{cost}？
{ride}从{city1}去{city2}{cost}？
{city1}到{city2}，{ride}{cost}？
我在{city1}，想去{city2}，{ride}{cost}？
~ city1 city2
@flight direction
{soon}有从{city1}飞[往|]{city2}的[航班|飞机]吗？
{soon}有没有{city1}飞{city2}的[航班|飞机]？
~ city1 city2
@distance pair
{city1}离{city2}有多远？
{city2}离{city1}多远？
{city1}和{city2}之间的距离是多少？
{city2}到{city1}[有|]多少公里？
@convert direction
怎么把{format1}[文件|]转[换|]成{format2}？
{format1}如何转为{format2}[格式|]？
想把{format1}变成{format2}，[怎么办|怎么做]？
~ format1 format2
@port direction
把这个函数从{code1}改写成{code2}。
用{code2}重写这个{code1}函数。
这个{code1}函数，请改成{code2}的。
~ code1 code2
@translate direction
把这封信从{spoken1}翻译成{spoken2}。
这封{spoken1}信[请|]译成{spoken2}。
请将这封{spoken1}信翻成{spoken2}。
~ spoken1 spoken2
@compare comparison
{object1}比{object2}{grade.p}吗？
{object2}比{object1}{grade.n}吗？
跟{object2}比，{object1}是不是更{grade.p}？
~ object1 object2
@compare_people comparison
{name1}是不是比{name2}{hgrade.p}？
{name1}比{name2}{hgrade.p}[吗|么]？
{name2}比{name1}{hgrade.n}[吗|么]？
~ name1 name2
@not_as comparison
{name1}没有{name2}{hgrade.p}。
{name1}不如{name2}{hgrade.p}。
{name2}比{name1}{hgrade.p}。
~ name1 name2
@which_more comparison
{object1}和{object2}哪个更{grade.p}？
{object2}和{object1}，哪个{grade.p}一些？
哪个更{grade.p}，{object1}还是{object2}？
--
{object1}和{object2}哪个更{grade.n}？
{object2}和{object1}，哪个{grade.n}一些？
@symmetric pair
{name1}和{name2}是{tie}吗？
{name2}跟{name1}是不是{tie}？
{name1}与{name2}是{tie}[吧|对吧|吗]？
@difference pair
{code1}和{code2}有什么区别？
{code2}与{code1}的区别[是什么|在哪里]？
{code1}跟{code2}有[啥|什么|哪些]不同？
@list_order pair
{place}里有{object1}和{object2}。
{place}里有{object2}和{object1}。
{object1}和{object2}都在{place}里。
@eats role
{animal1}会吃{animal2}吗？
{animal2}会被{animal1}吃[掉|]吗？
{animal1}会不会吃{animal2}？
~ animal1 animal2
@more_less polarity
怎样变得更{trait}？
如何让自己更{trait}一些？
怎么才能不那么{trait.o}？
--
怎样变得更{trait.o}？
怎么才能不那么{trait}？
@person_not negation
不{hgrade.p}的人
不{hgrade.p}的一个人
一个不{hgrade.p}的人
--
{hgrade.p}的人
一个{hgrade.p}的人
@double_negation negation
{name}不是没有付{object}的钱。
{name}付了{object}的钱。
{object}的钱{name}付了。
--
{name}没有付{object}的钱。
{name}没付{object}的钱。
{object}的钱{name}没付。
@must_not negation
{name}不得不去{place}。
{name}必须去{place}。
{name}非去{place}不可。
--
{name}不必去{place}。
{name}不用去{place}。
--
{name}不能去{place}。
{name}不可以去{place}。
@can_not negation
哪些{group}可以{do}？
能{do}的{group}有哪些？
--
哪些{group}不可以{do}？
不能{do}的{group}有哪些？
@where_not negation
哪里可以[办理|申请]{aspect}？
[在|]什么地方能[办理|申请]{aspect}？
--
哪里不可以[办理|申请]{aspect}？
[在|]什么地方不能[办理|申请]{aspect}？
@have_not negation
{place}里有{object}。
{object}在{place}里有。
{place}里是有{object}的。
--
{place}里没有{object}。
{object}在{place}里没有。
{place}里是没有{object}的。
@yes_no_form attribute
{object}是不是{adj}的？
{object}是{adj}的吗？
这个{object}是{adj}的[么|吧]？
--
{object}是不是{adj.o}的？
{object}是{adj.o}的吗？
@have_form scope
{app}有没有{aspect}功能？
{app}有{aspect}功能吗？
{app}里面有{aspect}功能[么|吗]？
@can_form scope
{scope}可不可以用{aspect}？
{scope}可以用{aspect}吗？
{scope}能用{aspect}吗？
[在|]{scope}能不能用{aspect}？
@tense time
{name}[现在|目前]是{job}吗？
{name}是不是{job}？
{name}是{job}吗？
--
{name}以前是{job}吗？
{name}曾经是不是{job}？
--
{name}将来会是{job}吗？
{name}以后会成为{job}吗？
@still time
{name}还在{city}工作。
{name}仍然在{city}工作。
{name}仍在{city}上班。
--
{name}已经不在{city}工作了。
{name}不再在{city}工作了。
--
{name}要去{city}工作了。
{name}即将去{city}工作。
@did_yet time
{name}已经{do}了{object}。
{object}{name}已经{do}了。
--
{name}还没{do}{object}。
{object}{name}还没有{do}。
--
{name}正在{do}{object}。
{object}{name}正在{do}。
@coreference role
{name1}告诉{name2}，{name2}要去{place}。
{name2}听{name1}说，{name2}要去{place}。
--
{name1}告诉{name2}，{name1}要去{place}。
{name2}听{name1}说，{name1}要去{place}。
--
{name2}告诉{name1}，{name2}要去{place}。
{name1}听{name2}说，{name2}要去{place}。
@sell_buy role
{name1}把{object}卖给了{name2}。
{name2}从{name1}那里买了{object}。
{name2}买了{name1}卖的{object}。
~ name1 name2
@lend role
{name1}借给{name2}{object}了吗？
{name2}向{name1}借了{object}吗？
{name2}有没有跟{name1}借过{object}？
~ name1 name2
@give role
{when}{name1}送给{name2}什么了？
{when}{name2}从{name1}那儿收到了什么？
{name1}{when}送了什么给{name2}？
~ name1 name2
@teach role
{name1}教{name2}{spoken}吗？
{name2}跟{name1}学{spoken}吗？
{name2}是不是{name1}的{spoken}学生？
~ name1 name2
@boss role
{name1}是{name2}的上司吗？
{name2}是{name1}的下属吗？
{name2}归{name1}管吗？
~ name1 name2
@match role
{city1}队以{age}比0赢了{city2}队。
{city2}队以0比{age}输给了{city1}队。
{city2}队被{city1}队以{age}比0击败。
~ city1 city2
@adjective attribute
哪里能买到{adj}的{object}？
在哪儿可以买{adj}的{object}？
{adj}的{object}[去|在]哪里买？
--
哪里能买到{adj.o}的{object}？
{adj.o}的{object}[去|在]哪里买？
@trait_person attribute
{name}是个{trait}的{job}。
{name}是一[位|名|个]{trait}的{job}。
{job}{name}是个{trait}的人。
--
{name}是个{trait.o}的{job}。
{job}{name}是个{trait.o}的人。
@who_is name
{name}是谁？
谁是{name}[啊|呀|]？
介绍一下{name}[这个人|]。
{name}是什么人？
@born name
{name}{year}年[出|]生于{city}，是一名{job}。
{job}{name}，{year}年在{city}出生。
{name}是{job}，{year}年出生在{city}。
@profession profession
{name}是{country}的{job}。
{name}，{country}{job}。
{country}{job}{name}。
@two_professions profession
{name}（生于{year}年）是一名{country}{job1}和{job2}。
{name}是{country}的{job2}和{job1}，{year}年出生。
@count number
怎么显示前{number}个{group}？
如何列出前{number}个{group}？
要看前{number}个{group}，怎么操作？
@at_least quantifier
我至少需要{number}个{group}。
我需要{number}个或更多{group}。
我需要不少于{number}个{group}。
--
我最多需要{number}个{group}。
我需要不超过{number}个{group}。
--
我正好需要{number}个{group}。
我需要的{group}是{number}个，不多不少。
@quantity unit
{duration}之内可以取消吗？
能不能在{duration}以内取消？
{duration}内能取消吗？
--
{duration}之后可以取消吗？
能不能在{duration}以后取消？
@limit unit
{aspect}的上限是{quantity}吗？
{aspect}最多是不是{quantity}？
{quantity}是{aspect}的上限吗？
@date date
{date}发生了什么[事|]？
发生在{date}的是什么事？
在{date}[这天|]有什么事发生？
@booking date
我订了{date}{city}的房间。
{city}的房间我订了，{date}的。
{date}我在{city}订了房间。
@clock date
{place}{day}{clock}开门吗？
{day}{clock}{place}开不开门？
{place}是不是在{day}{clock}开门？
@version identifier
{app} {version}支持{format}吗？
{format}能在{app} {version}里用吗？
{app} {version}支不支持{format}？
@identifier identifier
{id}的状态是什么？
{id}现在[是|]什么状态？
查一下{id}的状态。
@flag identifier case
{app}里{flag}是什么意思？
{flag}在{app}里有什么作用？
{app}的{flag}参数是干什么的？
@rename direction case
把{file1}重命名为{file2}。
将{file1}改名成{file2}。
{file1}的名字改成{file2}。
~ file1 file2
@copy direction
怎么把{group}从{app1}复制到{app2}？
{app1}里的{group}如何复制到{app2}？
~ app1 app2
@migrate direction
怎么从{app1}换到{app2}？
我用的是{app1}，怎么换成{app2}？
如何用{app2}代替{app1}？
~ app1 app2
@merge direction case
把{file1}合并到{file2}里。
将{file1}并入{file2}。
{file1}请合并进{file2}。
~ file1 file2
@before_after order
{event1}是在{event2}之前吗？
{event2}在{event1}之后吗？
{event1}比{event2}早吗？
~ event1 event2
@first_then order
{name}先去{city1}，再去{city2}。
{name}去{city2}之前先去{city1}。
{name}去完{city1}以后去{city2}。
~ city1 city2
@cause cause
{cause1}会导致{cause2}吗？
{cause2}会由{cause1}引起吗？
{cause1}会不会造成{cause2}？
~ cause1 cause2
@causes_effects cause
{cause}的原因是什么？
什么会导致{cause}？
是什么引起{cause}的？
--
{cause}的后果是什么？
{cause}会导致什么？
{cause}会引起什么？
@question_word question
{event}什么时候开始？
{event}几时开始？
{event}的开始时间是[什么|]？
--
{event}在哪里？
{event}的地点在哪儿？
--
{event}是因为什么？
为什么会有{event}？
--
{event}由谁负责？
谁负责{event}？
--
{event}有多久？
{event}持续多长时间？
@service_word question
{aspect}多少钱？
{aspect}怎么收费？
{aspect}的费用是多少？
--
{aspect}要多久？
{aspect}需要多长时间？
--
怎么申请{aspect}？
{aspect}如何申请？
--
谁可以申请{aspect}？
哪些人能申请{aspect}？
@thing attribute
{app}的{thing}是什么？
[我想知道|告诉我]{app}的{thing}。
{app}的{thing}[是啥|]？
@scope scope
{scope}{aspect}多少钱？
{aspect}{scope}要多少钱？
[在|]{scope}，{aspect}的费用是多少？
@for_whom scope
{aspect}对{for}有优惠吗？
{for}{aspect}有没有优惠？
{for}[申请|办理]{aspect}有优惠吗？
@with_without with
有{aspect}可以{do}{object}吗？
在有{aspect}的情况下能{do}{object}吗？
--
没有{aspect}可以{do}{object}吗？
在没有{aspect}的情况下能{do}{object}吗？
@except quantifier
除了{city}，哪些地方有{object}？
{city}以外的哪些地方有{object}？
--
{city}的哪些地方有{object}？
在{city}，什么地方有{object}？
--
只有{city}有{object}吗？
是不是仅{city}有{object}？
@all_none quantifier
所有{group}都是{adj}的吗？
是不是全部{group}都是{adj}的？
--
所有{group}都不是{adj}的吗？
是不是没有{group}是{adj}的？
--
有些{group}是{adj}的吗？
是不是有一部分{group}是{adj}的？
--
不是所有{group}都是{adj}的吗？
@shape instruction
{shape}解释{task}。
{shape}讲解一下{task}。
解释{task}，{shape}。
@audience instruction
给{audience}解释{task}。
向{audience}讲[一讲|一下|]{task}。
怎么跟{audience}解释{task}？
@length instruction
用{number}个字总结{task}。
总结{task}，{number}个字。
写一段{number}字的{task}总结。
@language instruction
用{spoken}写一篇关于{task}的文章。
写一篇{spoken}文章，[主题|题目]是{task}。
@task_word instruction
总结这篇{task}的文章。
概括一下这篇{task}的文章。
--
翻译这篇{task}的文章。
这篇{task}的文章请翻译一下。
--
评价这篇{task}的文章。
对这篇{task}的文章做个评价。
--
写一篇{task}的文章。
@polite task
解释{task}。
能[麻烦你|]解释一下{task}吗？
什么是{task}[呢|呀|]？
{task}是什么[呢|啊|意思|]？
@when time
{when}谁来过{place}？
{when}来过{place}的人是谁？
谁{when}来过{place}？
@superlative superlative
哪个{object}最{grade.p}？
最{grade.p}的{object}是哪个？
--
哪个{object}最{grade.n}？
最{grade.n}的{object}是哪个？
@most superlative
哪个{place}的{group}最多？
{group}最多的{place}是哪个？
--
哪个{place}的{group}最少？
{group}最少的{place}是哪个？
@action action
怎么{do}{object}？
如何{do}{object}[啊|呢|]？
{do}{object}的方法是什么？
--
怎么{do.o}{object}？
{do.o}{object}的方法是什么？
@action_failed action
{object}{do}不了。
我没办法{do}{object}。
无法{do}{object}。
--
{object}{do.o}不了。
我没办法{do.o}{object}。
--
{object}可以{do}。
我能{do}{object}。
@short_form short
{short}是什么？
什么是{short}[呢|]？
[介绍一下|说说]{short}。
@clauses statement
{name1}搬到{city1}的时候，{name2}留在{city2}。
{name2}留在{city2}，{name1}则搬到{city1}。
~ name1 name2
~ city1 city2
@song statement
这首歌由{name1}作词，{name2}演唱。
{name2}演唱了这首{name1}作词的歌。
{name1}给这首歌写了词，唱的人是{name2}。
~ name1 name2
@career statement
{year}年{name}离开{app1}，加入{city}的{app2}。
{name}{year}年从{app1}离职后加入了{city}的{app2}。
~ app1 app2
@prefer comparison
比起{code2}，{name}更喜欢{code1}吗？
{name}喜欢{code1}胜过{code2}吗？
{name}是不是更喜欢{code1}而不是{code2}？
~ code1 code2
@location role
{place1}在{place2}的北边吗？
{place2}在{place1}的南边吗？
{place1}是不是在{place2}北面？
~ place1 place2
@depends direction
{app1}依赖{app2}吗？
{app2}是{app1}的依赖吗？
{app1}需不需要{app2}才能用？
~ app1 app2
@if order
如果{event1}取消，{event2}会改期吗？
{event2}会因为{event1}取消而改期吗？
要是{event1}取消了，{event2}会不会改期？
~ event1 event2
@both quantifier
{object1}和{object2}都是{adj}的吗？
{object2}和{object1}是不是都是{adj}的？
--
{object1}和{object2}都不是{adj}的吗？
{object2}和{object1}是不是都不是{adj}的？
--
只有{object1}是{adj}的，{object2}不是吗？
@until time
{place}{clock}才开门吗？
{place}是不是{clock}以后才开门？
--
{place}{clock}就关门吗？
{place}是不是{clock}关门？
@word_order pair
{name}{when}在{city}买了{object}。
{when}{name}在{city}买了{object}。
在{city}，{name}{when}买了{object}。
--
{name}{when}在{city}卖了{object}。
{when}{name}在{city}卖了{object}。
"""
