//! Typical contact lists in many languages: a few dozen rows, most of each row ASCII.

use super::{Encoding, Standard, encoding_named};

/// The parts from which the rows of a list are made.
pub(super) struct SampleList {
    pub(super) language: &'static str,
    /// The labels of the encodings that are common for such a list.
    pub(super) labels: &'static [&'static str],
    first_names: &'static [&'static str],
    last_names: &'static [&'static str],
    cities: &'static [&'static str],
}

impl SampleList {
    /// Forty rows below a header.
    pub(super) fn csv(&self) -> String {
        let mut csv = String::from("id;first name;last name;city;phone;email\r\n");
        for row in 0..40 {
            let pick = |names: &[&'static str], step: usize| names[row * step % names.len()];
            csv += &format!(
                "{};{};{};{};+{} {};user{row}@example.com\r\n",
                1000 + row,
                pick(self.first_names, 1),
                pick(self.last_names, 3),
                pick(self.cities, 7),
                30 + row % 60,
                2_001_234_567_u64 + 7_919 * row as u64,
            );
        }
        csv
    }
}

/// The encoding of the standard with this label.
pub(super) fn standard(label: &str) -> Standard {
    match encoding_named(label) {
        Ok(Encoding::Standard(encoding)) => encoding,
        other => panic!("{label}: {other:?}"),
    }
}

/// Encodes a text in the encoding with this label.
pub(super) fn encoded(text: &str, label: &str) -> Vec<u8> {
    let encoding = standard(label);
    let units = text.encode_utf16();
    match encoding.name() {
        "UTF-16LE" => units.flat_map(u16::to_le_bytes).collect(),
        "UTF-16BE" => units.flat_map(u16::to_be_bytes).collect(),
        _ => {
            let (bytes, _, is_lossy) = encoding.encode(text);
            assert!(!is_lossy, "{label} has not all of it");
            bytes.into_owned()
        }
    }
}

pub(super) fn in_language(language: &str) -> &'static SampleList {
    ALL.iter().find(|list| list.language == language).unwrap()
}

#[rustfmt::skip]
pub(super) const ALL: &[SampleList] = &[
    SampleList {
        language: "German",
        labels: &["windows-1252", "macintosh"],
        first_names: &["Jürgen", "Anna", "Günther", "Peter", "Käthe", "Björn", "Sabine", "Jörg", "Thomas", "Ute"],
        last_names: &["Müller", "Schmidt", "Weiß", "Schäfer", "Huber", "Köhler", "Böhm", "Fischer", "Groß", "Bauer", "Jäger"],
        cities: &["München", "Köln", "Berlin", "Düsseldorf", "Nürnberg", "Hamburg", "Würzburg", "Gießen", "Österreich"],
    },
    SampleList {
        language: "French",
        labels: &["windows-1252", "macintosh"],
        first_names: &["François", "Hélène", "Pierre", "Zoé", "Benoît", "Chloé", "Jérôme", "Marie", "Gaël", "Anaïs"],
        last_names: &["Lefèvre", "Dupont", "Béranger", "Gauthier", "Hébert", "Martin", "Lemaître", "Garçon", "Bœuf", "Noël", "Durand"],
        cities: &["Besançon", "Orléans", "Paris", "Saint-Étienne", "Béziers", "Nîmes", "Lyon", "Châlons", "L’Haÿ-les-Roses"],
    },
    SampleList {
        language: "Spanish",
        labels: &["windows-1252", "macintosh"],
        first_names: &["José", "María", "Ángel", "Carmen", "Íñigo", "Begoña", "Ramón", "Sofía", "Juan", "Andrés"],
        last_names: &["Núñez", "García", "López", "Peña", "Sánchez", "Muñoz", "Ruiz", "Ibáñez", "Ordóñez", "Moreno", "Argüelles"],
        cities: &["Málaga", "Cádiz", "Madrid", "A Coruña", "Logroño", "Sevilla", "Ávila", "León", "Córdoba"],
    },
    SampleList {
        language: "Portuguese",
        labels: &["windows-1252", "macintosh"],
        first_names: &["João", "Conceição", "Tomás", "Inês", "António", "Maria", "Luís", "Simão", "Beatriz", "Estêvão"],
        last_names: &["Gonçalves", "Silva", "Simões", "Conceição", "Araújo", "Magalhães", "Santos", "Guimarães", "Assunção", "Pereira", "Brandão"],
        cities: &["São Paulo", "Lisboa", "Évora", "Brasília", "Belém", "Porto", "Maceió", "Goiânia", "Ribeirão Preto"],
    },
    SampleList {
        language: "Italian",
        labels: &["windows-1252", "macintosh"],
        first_names: &["Nicolò", "Giulia", "Niccolò", "Noè", "Marco", "Mosè", "Andrea", "Josè", "Paolo", "Lucia"],
        last_names: &["D’Angelo", "Rossi", "Pastorè", "Cantù", "Dell’Acqua", "Bianchi", "Papà", "Nardò", "Russo", "Fumù", "Ferrari"],
        cities: &["Forlì", "Roma", "Cefalù", "Cantù", "Milano", "Nardò", "Torino", "Patti", "Mondovì"],
    },
    SampleList {
        language: "Swedish",
        labels: &["windows-1252", "macintosh"],
        first_names: &["Åsa", "Björn", "Göran", "Anna", "Märta", "Jörgen", "Erik", "Håkan", "Lars", "Östen"],
        last_names: &["Åkesson", "Sjöberg", "Lindström", "Andersson", "Öberg", "Bäckström", "Nyström", "Svensson", "Hägg", "Åberg"],
        cities: &["Malmö", "Göteborg", "Stockholm", "Västerås", "Örebro", "Umeå", "Jönköping", "Luleå", "Uppsala"],
    },
    SampleList {
        language: "Danish",
        labels: &["windows-1252", "macintosh"],
        first_names: &["Søren", "Åse", "Jørgen", "Anne", "Bjørn", "Mette", "Lærke", "Kåre", "Lars", "Øyvind"],
        last_names: &["Sørensen", "Nørgaard", "Jensen", "Kjær", "Ødegård", "Møller", "Bråten", "Hansen", "Bæk", "Solskjær"],
        cities: &["København", "Ålborg", "Århus", "Tromsø", "Ålesund", "Oslo", "Odense", "Tønder", "Bodø"],
    },
    SampleList {
        language: "Dutch",
        labels: &["windows-1252"],
        first_names: &["Jan", "Daniël", "Michaël", "Anna", "Zoë", "Pieter", "Loïs", "Noël", "Joris", "Chloë"],
        last_names: &["de Vries", "Bakker", "Coenegracht", "Jansen", "Lefèvre", "Wouters", "Ströbel", "Smit", "van den Berg", "Reünie", "Mulder"],
        cities: &["Amsterdam", "Coevorden", "Curaçao", "Utrecht", "Oostzaan", "België", "Rotterdam", "Delft", "Ameland"],
    },
    SampleList {
        language: "Polish",
        labels: &["windows-1250", "iso-8859-2"],
        first_names: &["Łukasz", "Małgorzata", "Paweł", "Żaneta", "Michał", "Grażyna", "Jacek", "Świętosław", "Bożena", "Anna"],
        last_names: &["Wójcik", "Kowalski", "Dąbrowski", "Zieliński", "Błaszczyk", "Nowak", "Śliwa", "Kamiński", "Gałązka", "Źrebak", "Wałęsa"],
        cities: &["Łódź", "Kraków", "Warszawa", "Gdańsk", "Poznań", "Świdnica", "Częstochowa", "Rzeszów", "Żary"],
    },
    SampleList {
        language: "Czech",
        labels: &["windows-1250", "iso-8859-2"],
        first_names: &["Jiří", "Tomáš", "Lukáš", "Anežka", "Petr", "Zdeněk", "Kateřina", "Ondřej", "Božena", "Jan"],
        last_names: &["Dvořák", "Novák", "Černý", "Procházka", "Šťastný", "Růžička", "Kučera", "Svoboda", "Říha", "Němec", "Žák"],
        cities: &["Praha", "Plzeň", "České Budějovice", "Ústí nad Labem", "Brno", "Třebíč", "Hradec Králové", "Děčín", "Žďár"],
    },
    SampleList {
        language: "Hungarian",
        labels: &["windows-1250", "iso-8859-2"],
        first_names: &["László", "György", "Zoltán", "Erzsébet", "Péter", "Gergő", "Anna", "Jenő", "Zsófia", "Ödön"],
        last_names: &["Szabó", "Kovács", "Tóth", "Nagy", "Németh", "Fehér", "Erdős", "Szőke", "Molnár", "Győri"],
        cities: &["Győr", "Budapest", "Székesfehérvár", "Pécs", "Kecskemét", "Hódmezővásárhely", "Szeged", "Gödöllő"],
    },
    SampleList {
        language: "Slovenian",
        labels: &["windows-1250"],
        first_names: &["Špela", "Matjaž", "Janez", "Žiga", "Anže", "Marko", "Boštjan", "Saša", "Ana", "Črtomir"],
        last_names: &["Žižek", "Novak", "Škof", "Kovač", "Horvat", "Češnovar", "Zupančič", "Kranjc", "Mlakar", "Košir"],
        cities: &["Ljubljana", "Škofja Loka", "Kočevje", "Žalec", "Maribor", "Črnomelj", "Koper", "Šoštanj"],
    },
    SampleList {
        language: "Slovenian without č",
        labels: &["windows-1252"],
        first_names: &["Špela", "Matjaž", "Janez", "Žiga", "Anže", "Marko", "Boštjan", "Saša", "Ana", "Uroš"],
        last_names: &["Žižek", "Novak", "Škof", "Koren", "Horvat", "Jež", "Zupan", "Kranjc", "Mlakar", "Košir"],
        cities: &["Ljubljana", "Škofja Loka", "Celje", "Žalec", "Maribor", "Koper", "Kranj", "Šoštanj"],
    },
    SampleList {
        language: "Russian",
        labels: &["windows-1251", "koi8-r", "ibm866", "iso-8859-5", "x-mac-cyrillic"],
        first_names: &["Александр", "Мария", "Дмитрий", "Екатерина", "Сергей", "Наталья", "Иван", "Ольга", "Юрий", "Анна"],
        last_names: &["Иванов", "Смирнова", "Кузнецов", "Попова", "Соколов", "Щербакова", "Новиков", "Фёдоров", "Морозова", "Волков", "Чехов"],
        cities: &["Москва", "Санкт-Петербург", "Новосибирск", "Екатеринбург", "Казань", "Нижний Новгород", "Челябинск", "Самара"],
    },
    SampleList {
        language: "Ukrainian",
        labels: &["windows-1251", "koi8-u"],
        first_names: &["Олександр", "Марія", "Дмитро", "Катерина", "Сергій", "Наталія", "Іван", "Ольга", "Юрій", "Євген"],
        last_names: &["Шевченко", "Коваленко", "Бондаренко", "Ткаченко", "Кравченко", "Олійник", "Шевчук", "Поліщук", "Їжакевич", "Лисенко"],
        cities: &["Київ", "Харків", "Одеса", "Дніпро", "Львів", "Запоріжжя", "Вінниця", "Чернігів", "Рівне"],
    },
    SampleList {
        language: "Bulgarian",
        labels: &["windows-1251"],
        first_names: &["Георги", "Мария", "Иван", "Димитър", "Елена", "Николай", "Йорданка", "Петър", "Христо", "Силвия"],
        last_names: &["Иванов", "Георгиева", "Димитров", "Петрова", "Николов", "Христова", "Стоянов", "Илиева", "Тодоров", "Ангелова"],
        cities: &["София", "Пловдив", "Варна", "Бургас", "Русе", "Стара Загора", "Плевен", "Велико Търново"],
    },
    SampleList {
        language: "Greek",
        labels: &["windows-1253", "iso-8859-7"],
        first_names: &["Γιώργος", "Μαρία", "Δημήτρης", "Ελένη", "Κώστας", "Αικατερίνη", "Νίκος", "Άννα", "Ιωάννης", "Σοφία"],
        last_names: &["Παπαδόπουλος", "Γεωργίου", "Οικονόμου", "Παπαδάκης", "Νικολάου", "Βλάχος", "Αγγελόπουλος", "Μακρής", "Ζαχαρίου", "Ψαράς"],
        cities: &["Αθήνα", "Θεσσαλονίκη", "Πάτρα", "Ηράκλειο", "Λάρισα", "Βόλος", "Ιωάννινα", "Χανιά"],
    },
    SampleList {
        language: "Turkish",
        labels: &["windows-1254"],
        first_names: &["Ayşe", "Mehmet", "Gülşen", "Çağla", "Ömer", "İbrahim", "Özgür", "Emine", "Şükrü", "Işıl", "Ali"],
        last_names: &["Yılmaz", "Kaya", "Şahin", "Çelik", "Yıldız", "Öztürk", "Aydın", "Doğan", "Arslan", "Koç", "Güneş"],
        cities: &["İstanbul", "Ankara", "İzmir", "Eskişehir", "Muğla", "Diyarbakır", "Şanlıurfa", "Kütahya", "Çorum"],
    },
    SampleList {
        language: "Hebrew",
        labels: &["windows-1255"],
        first_names: &["דוד", "שרה", "משה", "רחל", "יוסף", "מרים", "אברהם", "לאה", "יעקב", "חנה"],
        last_names: &["כהן", "לוי", "מזרחי", "פרץ", "ביטון", "דהן", "אברהם", "פרידמן", "שפירא", "אזולאי"],
        cities: &["ירושלים", "תל אביב", "חיפה", "באר שבע", "נתניה", "אשדוד", "רמת גן", "פתח תקווה"],
    },
    SampleList {
        language: "Arabic",
        labels: &["windows-1256"],
        first_names: &["محمد", "فاطمة", "أحمد", "عائشة", "علي", "مريم", "خالد", "زينب", "يوسف", "ليلى"],
        last_names: &["الحسن", "المصري", "العلي", "حداد", "الخطيب", "النجار", "صالح", "الأحمد", "إبراهيم", "عبدالله"],
        cities: &["القاهرة", "الرياض", "دبي", "بيروت", "عمان", "دمشق", "بغداد", "الدار البيضاء"],
    },
    SampleList {
        language: "Thai",
        labels: &["windows-874"],
        first_names: &["สมชาย", "สมหญิง", "ประเสริฐ", "มาลี", "วิชัย", "สุดา", "ธนา", "กมล"],
        last_names: &["ใจดี", "ศรีสุข", "ทองคำ", "แสงทอง", "บุญมี", "สุขใจ", "รักไทย", "วงศ์ใหญ่"],
        cities: &["กรุงเทพ", "เชียงใหม่", "ภูเก็ต", "ขอนแก่น", "นครราชสีมา", "หาดใหญ่"],
    },
    SampleList {
        language: "Lithuanian",
        labels: &["windows-1257"],
        first_names: &["Jonas", "Rūta", "Žydrūnas", "Eglė", "Šarūnas", "Jūratė", "Gintarė", "Vytautas", "Algirdas", "Živilė"],
        last_names: &["Kazlauskas", "Petrauskienė", "Jankauskas", "Žukauskas", "Butkus", "Stankevičius", "Paulauskaitė", "Šimkus", "Vaičiūnas", "Čepaitis"],
        cities: &["Vilnius", "Kaunas", "Klaipėda", "Šiauliai", "Panevėžys", "Utėna", "Marijampolė", "Mažeikiai"],
    },
    SampleList {
        language: "Latvian",
        labels: &["windows-1257"],
        first_names: &["Jānis", "Līga", "Andris", "Ilze", "Mārtiņš", "Kristīne", "Pēteris", "Zane", "Ģirts", "Inese"],
        last_names: &["Bērziņš", "Kalniņa", "Ozoliņš", "Liepiņa", "Krūmiņš", "Zariņa", "Balodis", "Eglītis", "Šmits", "Vītols"],
        cities: &["Rīga", "Daugavpils", "Liepāja", "Jelgava", "Jūrmala", "Ventspils", "Rēzekne", "Cēsis"],
    },
    SampleList {
        language: "Romanian",
        labels: &["windows-1250"],
        first_names: &["Ştefan", "Ion", "Mădălina", "Ioana", "Cătălin", "Florenţa", "Răzvan", "Elena", "Ţuţea", "Mihai"],
        last_names: &["Popescu", "Ionescu", "Bălan", "Rădulescu", "Niţă", "Dumitru", "Gheorghiţă", "Stănescu", "Mureşan", "Ciobanu"],
        cities: &["Bucureşti", "Iaşi", "Timişoara", "Braşov", "Constanţa", "Bacău", "Piteşti", "Târgu Mureş"],
    },
    SampleList {
        language: "Japanese",
        labels: &["shift_jis", "euc-jp"],
        first_names: &["太郎", "花子", "一郎", "美咲", "健太", "さくら", "翔太", "陽子", "大輔", "ケンジ"],
        last_names: &["佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤", "斎藤"],
        cities: &["東京都千代田区", "大阪府大阪市", "横浜市", "名古屋市中区", "札幌市", "福岡県福岡市", "京都市", "センダイ"],
    },
    SampleList {
        language: "Chinese",
        labels: &["gbk", "gb18030"],
        first_names: &["伟", "芳", "娜", "秀英", "敏", "静", "丽", "强", "磊", "军"],
        last_names: &["王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴", "徐"],
        cities: &["北京市", "上海市浦东新区", "广州市", "深圳市南山区", "成都市", "杭州市", "武汉市", "西安市"],
    },
    SampleList {
        language: "Chinese of Taiwan",
        labels: &["big5"],
        first_names: &["志明", "淑芬", "俊傑", "美玲", "家豪", "雅婷", "建宏", "怡君", "冠宇", "佳穎"],
        last_names: &["陳", "林", "黃", "張", "李", "王", "吳", "劉", "蔡", "楊", "許"],
        cities: &["臺北市大安區", "新北市板橋區", "桃園市", "臺中市西屯區", "臺南市", "高雄市左營區", "新竹市", "基隆市"],
    },
    SampleList {
        language: "Korean",
        labels: &["euc-kr"],
        first_names: &["민준", "서연", "도윤", "지우", "예준", "하은", "시우", "수빈", "주원", "지민"],
        last_names: &["김", "이", "박", "최", "정", "강", "조", "윤", "장", "임", "한"],
        cities: &["서울특별시 강남구", "부산광역시 해운대구", "대구광역시", "인천광역시", "광주광역시", "대전광역시", "울산광역시", "수원시"],
    },
];
