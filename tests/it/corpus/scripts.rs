//! Lists in other scripts, in the code pages that are used for them.

use super::encoded;

corpus! {
    polish_windows_1250: encoded("windows-1250",
        "Imię;Nazwisko;Telefon;Miasto\r\n\
         Łukasz;Wójcik;501 234 567;Łódź\r\n\
         Małgorzata;Dąbrowska;502 234 567;Kraków\r\n\
         Paweł;Zieliński;503 234 567;Gdańsk\r\n"), "--region PL" => "
        exit 0
        windows-1250, semicolon, header in line 1
        2 | +48501234567 | ready | imię=Łukasz | nazwisko=Wójcik | miasto=Łódź
        3 | +48502234567 | ready | imię=Małgorzata | nazwisko=Dąbrowska | miasto=Kraków
        4 | +48503234567 | ready | imię=Paweł | nazwisko=Zieliński | miasto=Gdańsk
    ";
    polish_iso_8859_2: encoded("iso-8859-2",
        "Imię;Nazwisko;Telefon;Miasto\n\
         Łukasz;Śliwa;501 234 567;Łódź\n\
         Małgorzata;Dąbrowska;502 234 567;Świdnica\n\
         Stanisław;Źrebak;503 234 567;Częstochowa\n"), "--region PL" => "
        exit 0
        ISO-8859-2, semicolon, header in line 1
        2 | +48501234567 | ready | imię=Łukasz | nazwisko=Śliwa | miasto=Łódź
        3 | +48502234567 | ready | imię=Małgorzata | nazwisko=Dąbrowska | miasto=Świdnica
        4 | +48503234567 | ready | imię=Stanisław | nazwisko=Źrebak | miasto=Częstochowa
    ";
    russian_windows_1251: encoded("windows-1251",
        "Имя;Фамилия;Телефон;Город\r\n\
         Александр;Иванов;8 (912) 345-67-89;Москва\r\n\
         Мария;Смирнова;8 (912) 345-67-90;Казань\r\n"), "--region RU" => "
        exit 0
        windows-1251, semicolon, header in line 1
        2 | +79123456789 | ready | имя=Александр | фамилия=Иванов | город=Москва
        3 | +79123456790 | ready | имя=Мария | фамилия=Смирнова | город=Казань
    ";
    // The letters of these encodings have the same bytes.
    russian_koi8_r: encoded("koi8-r",
        "Имя,Номер телефона,Город\n\
         Александр Иванов,+7 912 345-67-89,Москва\n\
         Мария Смирнова,+7 912 345-67-90,Казань\n\
         Дмитрий Кузнецов,+7 912 345-67-91,Челябинск\n"), "" => "
        exit 0
        KOI8-U, comma, header in line 1
        2 | +79123456789 | ready | имя=Александр Иванов | город=Москва
        3 | +79123456790 | ready | имя=Мария Смирнова | город=Казань
        4 | +79123456791 | ready | имя=Дмитрий Кузнецов | город=Челябинск
    ";
    greek_windows_1253: encoded("windows-1253",
        "Όνομα;Επώνυμο;Τηλέφωνο;Πόλη\r\n\
         Γιώργος;Παπαδόπουλος;691 234 5678;Αθήνα\r\n\
         Άννα;Γεωργίου;697 234 5678;Θεσσαλονίκη\r\n"), "--region GR" => "
        exit 0
        windows-1253, semicolon, header in line 1
        2 | +306912345678 | ready | όνομα=Γιώργος | επώνυμο=Παπαδόπουλος | πόλη=Αθήνα
        3 | +306972345678 | ready | όνομα=Άννα | επώνυμο=Γεωργίου | πόλη=Θεσσαλονίκη
    ";
    turkish_windows_1254: encoded("windows-1254",
        "Ad;Soyad;Cep telefonu;Şehir\r\n\
         Ayşe;Yılmaz;0532 123 45 67;İstanbul\r\n\
         Işıl;Şahin;0533 123 45 67;Muğla\r\n\
         İbrahim;Doğan;0535 123 45 67;Eskişehir\r\n"), "--region TR" => "
        exit 0
        windows-1254, semicolon, header in line 1
        2 | +905321234567 | ready | ad=Ayşe | soyad=Yılmaz | şehir=İstanbul
        3 | +905331234567 | ready | ad=Işıl | soyad=Şahin | şehir=Muğla
        4 | +905351234567 | ready | ad=İbrahim | soyad=Doğan | şehir=Eskişehir
    ";
    hebrew_windows_1255: encoded("windows-1255",
        "שם,טלפון נייד,עיר\r\n\
         דוד כהן,050-123-4567,תל אביב\r\n\
         שרה לוי,052-123-4567,ירושלים\r\n"), "--region IL" => "
        exit 0
        windows-1255, comma, header in line 1
        2 | +972501234567 | ready | שם=דוד כהן | עיר=תל אביב
        3 | +972521234567 | ready | שם=שרה לוי | עיר=ירושלים
    ";
    arabic_windows_1256: encoded("windows-1256",
        "الاسم;رقم الهاتف;المدينة\r\n\
         محمد الحسن;050 123 4567;الرياض\r\n\
         فاطمة المصري;055 123 4567;جدة\r\n"), "--region SA" => "
        exit 0
        windows-1256, semicolon, header in line 1
        2 | +966501234567 | ready | الاسم=محمد الحسن | المدينة=الرياض
        3 | +966551234567 | ready | الاسم=فاطمة المصري | المدينة=جدة
    ";
    lithuanian_windows_1257: encoded("windows-1257",
        "Vardas;Telefonas;Miestas\r\n\
         Šarūnas Žukauskas;+370 612 34567;Panevėžys\r\n\
         Rūta Petrauskienė;+370 612 34568;Klaipėda\r\n\
         Jūratė Vaičiūnaitė;+370 612 34569;Šiauliai\r\n"), "" => "
        exit 0
        windows-1257, semicolon, header in line 1
        2 | +37061234567 | ready | vardas=Šarūnas Žukauskas | miestas=Panevėžys
        3 | +37061234568 | ready | vardas=Rūta Petrauskienė | miestas=Klaipėda
        4 | +37061234569 | ready | vardas=Jūratė Vaičiūnaitė | miestas=Šiauliai
    ";
    japanese_shift_jis: encoded("shift_jis",
        "氏名,電話番号,住所\r\n\
         佐藤太郎,090-1234-5678,東京都千代田区\r\n\
         鈴木花子,03-1234-5678,大阪府大阪市\r\n"), "--region JP" => "
        exit 0
        Shift_JIS, comma, header in line 1
        2 | +819012345678 | ready | 氏名=佐藤太郎 | 住所=東京都千代田区
        3 | +81312345678 | ready | 氏名=鈴木花子 | 住所=大阪府大阪市
    ";
    shift_jis_with_a_pipe_for_a_second_byte: encoded("shift_jis",
        "氏名|電話番号|住所\r\n\
         ポール佐藤|090-1234-5678|東京都千代田区\r\n\
         鈴木花子|03-1234-5678|大阪府大阪市\r\n"), "--region JP" => "
        exit 0
        Shift_JIS, pipe, header in line 1
        2 | +819012345678 | ready | 氏名=ポール佐藤 | 住所=東京都千代田区
        3 | +81312345678 | ready | 氏名=鈴木花子 | 住所=大阪府大阪市
    ";
    japanese_euc_jp: encoded("euc-jp",
        "氏名,携帯電話,住所\n\
         佐藤太郎,090-1234-5678,東京都千代田区\n\
         鈴木花子,080-1234-5678,大阪府大阪市\n"), "--region JP" => "
        exit 0
        EUC-JP, comma, header in line 1
        2 | +819012345678 | ready | 氏名=佐藤太郎 | 住所=東京都千代田区
        3 | +818012345678 | ready | 氏名=鈴木花子 | 住所=大阪府大阪市
    ";
    chinese_gbk: encoded("gbk",
        "姓名,手机,城市\r\n\
         王伟,138 0013 8000,北京市\r\n\
         李娜,139 1234 5678,上海市浦东新区\r\n\
         张秀英,137 1234 5678,深圳市南山区\r\n"), "--region CN" => "
        exit 0
        GBK, comma, header in line 1
        2 | +8613800138000 | ready | 姓名=王伟 | 城市=北京市
        3 | +8613912345678 | ready | 姓名=李娜 | 城市=上海市浦东新区
        4 | +8613712345678 | ready | 姓名=张秀英 | 城市=深圳市南山区
    ";
    chinese_of_taiwan_big5: encoded("big5",
        "姓名,電話,城市\r\n\
         陳志明,0912 345 678,臺北市大安區\r\n\
         林淑芬,0922 345 678,高雄市左營區\r\n"), "--region TW" => "
        exit 0
        Big5, comma, header in line 1
        2 | +886912345678 | ready | 姓名=陳志明 | 城市=臺北市大安區
        3 | +886922345678 | ready | 姓名=林淑芬 | 城市=高雄市左營區
    ";
    korean_euc_kr: encoded("euc-kr",
        "이름,휴대폰 번호,도시\r\n\
         김민준,010-1234-5678,서울특별시 강남구\r\n\
         이서연,010-2345-6789,부산광역시\r\n"), "--region KR" => "
        exit 0
        EUC-KR, comma, header in line 1
        2 | +821012345678 | ready | 이름=김민준 | 도시=서울특별시 강남구
        3 | +821023456789 | ready | 이름=이서연 | 도시=부산광역시
    ";
    thai_windows_874: encoded("windows-874",
        "นาม,โทรศัพท์,จังหวัด\r\n\
         สมชาย ใจดี,081 234 5678,กรุงเทพ\r\n\
         มาลี ศรีสุข,082 234 5678,เชียงใหม่\r\n\
         วิชัย ทองคำ,083 234 5678,ขอนแก่น\r\n"), "--region TH --var-names as-is" => "
        exit 0
        windows-874, comma, header in line 1
        2 | +66812345678 | ready | นาม=สมชาย ใจดี | จังหวัด=กรุงเทพ
        3 | +66822345678 | ready | นาม=มาลี ศรีสุข | จังหวัด=เชียงใหม่
        4 | +66832345678 | ready | นาม=วิชัย ทองคำ | จังหวัด=ขอนแก่น
    ";
    thai_headers_keep_their_marks: "ชื่อ,โทรศัพท์\nสมชาย,+66812345678\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +66812345678 | ready | ชื่อ=สมชาย
    ";
    hindi_headers_keep_their_marks: "ग्राहक,मोबाइल\nराम,+919812345678\n", "" => "
        exit 0
        UTF-8, comma, header in line 1
        2 | +919812345678 | ready | ग्राहक=राम
    ";
}
