//! Sentences that differ in one word, in languages with and without spaces between words.
//!
//! Owns: the sentences, and the word as people type it. Never: an index.

/// One sentence about several cities.
#[derive(Debug)]
pub struct CitySentence {
    pub language: &'static str,
    /// The sentence with `{}` in place of its city.
    sentence: &'static str,
    cities: &'static [&'static str],
    /// The same cities without diacritics; empty for a language in which people always write them.
    bare: &'static [&'static str],
}

impl CitySentence {
    /// The sentences, one for each city.
    pub fn sentences(&self) -> Vec<String> {
        let told = |city: &&str| self.sentence.replace("{}", city);
        self.cities.iter().map(told).collect()
    }

    /// Queries as people type them, each with the index of its sentence.
    pub fn queries(&self) -> impl Iterator<Item = (usize, &'static str)> {
        [self.cities, self.bare]
            .into_iter()
            .flat_map(|list| list.iter().copied().enumerate())
    }
}

/// The same in many languages.
pub const CITY_SENTENCES: [CitySentence; 14] = [
    CitySentence {
        language: "Thai",
        sentence: "เมื่อปีที่แล้วฉันไปเที่ยว{}กับครอบครัวและกินอาหารอร่อยมาก",
        cities: &[
            "เชียงใหม่",
            "เชียงราย",
            "กรุงเทพ",
            "ภูเก็ต",
            "ขอนแก่น",
            "อยุธยา",
            "พัทยา",
            "หาดใหญ่",
            "อุดรธานี",
            "นครราชสีมา",
        ],
        bare: &[],
    },
    CitySentence {
        language: "Khmer",
        sentence: "ខ្ញុំបានទៅលេង{}ជាមួយគ្រួសារកាលពីឆ្នាំមុន",
        cities: &["ភ្នំពេញ", "សៀមរាប", "បាត់ដំបង", "កំពត", "កែប", "ព្រះសីហនុ"],
        bare: &[],
    },
    CitySentence {
        language: "Lao",
        sentence: "ປີກາຍນີ້ຂ້ອຍໄປທ່ຽວ{}ກັບຄອບຄົວ",
        cities: &["ວຽງຈັນ", "ຫຼວງພະບາງ", "ປາກເຊ", "ສະຫວັນນະເຂດ", "ທ່າແຂກ", "ຊຳເໜືອ"],
        bare: &[],
    },
    CitySentence {
        language: "Burmese",
        sentence: "မနှစ်ကကျွန်တော်{}ကိုမိသားစုနဲ့သွားလည်ခဲ့တယ်",
        cities: &["ရန်ကုန်", "မန္တလေး", "ပုဂံ", "တောင်ကြီး", "မော်လမြိုင်", "ပုသိမ်"],
        bare: &[],
    },
    CitySentence {
        language: "Tibetan",
        sentence: "ང་{}་ལ་འགྲོ་གི་ཡིན།",
        cities: &["ལྷ་ས", "གཞིས་ཀ་རྩེ", "ཆབ་མདོ", "རྒྱལ་རྩེ", "སྣེ་གདོང", "ནག་ཆུ"],
        bare: &[],
    },
    CitySentence {
        language: "Japanese",
        sentence: "去年の夏、家族と{}へ旅行に行きました。",
        cities: &["東京", "京都", "大阪", "札幌", "福岡", "名古屋", "ニューヨーク"],
        bare: &[],
    },
    CitySentence {
        language: "Chinese",
        sentence: "去年夏天我和家人去{}旅行。",
        cities: &["北京", "上海", "广州", "南京", "成都", "西安", "重庆"],
        bare: &[],
    },
    CitySentence {
        language: "Korean",
        sentence: "작년 여름에 가족과 함께 {}에 갔습니다.",
        cities: &["서울", "부산", "대구", "인천", "광주", "대전"],
        bare: &[],
    },
    CitySentence {
        language: "Hindi",
        sentence: "पिछले साल मैं परिवार के साथ {} गया था।",
        cities: &["दिल्ली", "मुंबई", "जयपुर", "आगरा", "वाराणसी", "भोपाल"],
        bare: &[],
    },
    CitySentence {
        language: "Vietnamese",
        sentence: "Mùa hè năm ngoái gia đình tôi đi {} chơi.",
        cities: &["Hà Nội", "Đà Nẵng", "Huế", "Hải Phòng", "Cần Thơ", "Nha Trang"],
        bare: &["Ha Noi", "da nang", "hue", "hai phong", "can tho", "nha trang"],
    },
    CitySentence {
        language: "Turkish",
        sentence: "Geçen yaz ailemle {} şehrine gittik.",
        cities: &[
            "İstanbul", "İzmir", "Şanlıurfa", "Diyarbakır", "Eskişehir", "Muğla",
        ],
        bare: &[
            "istanbul", "izmir", "sanliurfa", "diyarbakir", "eskisehir", "mugla",
        ],
    },
    CitySentence {
        language: "Russian",
        sentence: "Прошлым летом мы ездили в город {} с семьёй.",
        cities: &["Москва", "Казань", "Нижний Новгород", "Орёл", "Омск", "Томск"],
        bare: &["москва", "казань", "нижний новгород", "орел", "омск", "томск"],
    },
    CitySentence {
        language: "German",
        sentence: "Letzten Sommer war ich mit der Familie in {}.",
        cities: &["München", "Köln", "Nürnberg", "Düsseldorf", "Hamburg", "Gießen"],
        bare: &["munchen", "koln", "nurnberg", "dusseldorf", "hamburg", "giessen"],
    },
    CitySentence {
        language: "English",
        sentence: "Last summer we took the family to {}.",
        cities: &[
            "Boston", "Denver", "Chicago", "New York", "New Orleans", "Portland",
        ],
        bare: &[
            "boston", "denver", "chicago", "new york", "new orleans", "portland",
        ],
    },
];
