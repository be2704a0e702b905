-- A word of a name ends at every character that is no letter, mark or number. Invisible characters are not there at all. Each word of a search
-- meets a word of its own.

-- Imports and repairs write donors and funds before they number their version, and wait until this is done. Readers go on but for the moments
-- in which an index is made again. The order of the tables is that of an import, so that the two cannot block each other for good.
LOCK TABLE "designation", "donor" IN SHARE ROW EXCLUSIVE MODE;

-- Writes a text as its words: small letters without accents, one space between words, no apostrophes. The classes of characters are written
-- out as those of Unicode 17, because PostgreSQL's own depend on its version and on the locale. A range may run over code points that Unicode
-- has not assigned. A test compares each code point with JavaScript's \p{L}, \p{M} and \p{N}.
CREATE OR REPLACE FUNCTION "fold_for_search"(value TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE
    -- A text of as many bytes as characters is ASCII.
    WHEN octet_length(value) = char_length(value) THEN
        btrim(regexp_replace(lower(translate(value, '''`', '') COLLATE "C"), '[^a-z0-9]+', ' ', 'g'))
    ELSE
        btrim(regexp_replace(
            -- The characters of ASCII come first, because translate() looks through the list for each character.
            lower(translate(
                replace(replace(replace(replace(replace(replace(replace(replace(
                    regexp_replace(
                        -- What ends a word becomes a line feed before NFKD makes spaces and punctuation of letters, such as ½ and ﷺ. A symbol
                        -- of which NFKD makes letters, such as ™ and №, becomes a word.
                        normalize(regexp_replace(
                            value COLLATE "C",
                            '[\u0001-\u0026\u0028-\u002F\u003A-\u0040\u005B-\u005F\u007B-\u00A9\u00AB\u00AC\u00AE-\u00B1\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7\u02C2-\u02C5\u02D2-\u02DF\u02E5-\u02EB\u02ED\u02EF-\u02FF\u0375\u037E\u0384\u0385\u0387\u03F6\u0482\u055B-\u055F\u0589-\u058F\u05BE\u05C0\u05C3\u05C6\u05F4\u0606-\u060F\u061B\u061D-\u061F\u066A-\u066D\u06D4\u06DE\u06E9\u06FD\u06FE\u0700-\u070D\u07F6-\u07F9\u07FE\u07FF\u0830-\u083E\u085E\u0888\u0964\u0965\u0970\u09F2\u09F3\u09FA\u09FB\u09FD\u0A76\u0AF0\u0AF1\u0B70\u0BF3-\u0BFA\u0C77\u0C7F\u0C84\u0D4F\u0D79\u0DF4\u0E3F\u0E4F\u0E5A\u0E5B\u0F01-\u0F17\u0F1A-\u0F1F\u0F34\u0F36\u0F38\u0F3A-\u0F3D\u0F85\u0FBE-\u0FC5\u0FC7-\u0FDA\u104A-\u104F\u109E\u109F\u10FB\u1360-\u1368\u1390-\u1399\u1400\u166D\u166E\u1680\u169B\u169C\u16EB-\u16ED\u1735\u1736\u17D4-\u17D6\u17D8-\u17DB\u1800-\u180A\u1940-\u1945\u19DE-\u19FF\u1A1E\u1A1F\u1AA0-\u1AA6\u1AA8-\u1AAD\u1B4E\u1B4F\u1B5A-\u1B6A\u1B74-\u1B7F\u1BFC-\u1BFF\u1C3B-\u1C3F\u1C7E\u1C7F\u1CC0-\u1CC7\u1CD3\u1FBD\u1FBF-\u1FC1\u1FCD-\u1FCF\u1FDD-\u1FDF\u1FED-\u1FEF\u1FFD-\u200A\u2010-\u2017\u201A\u201C-\u2029\u202F-\u2031\u2033-\u205F\u207A-\u207E\u208A-\u208E\u20A0-\u20A7\u20A9-\u20C1\u2104\u2108\u2114\u2117\u2118\u211E\u211F\u2123\u2125\u2127\u2129\u212E\u213A\u2140-\u2144\u214A-\u214D\u214F\u218A-\u244A\u2500-\u2775\u2794-\u2BFF\u2CE5-\u2CEA\u2CF9-\u2CFC\u2CFE\u2CFF\u2D70\u2E00-\u2E2E\u2E30-\u2E9E\u2EA0-\u2EF2\u2FF0-\u3004\u3008-\u3020\u3030\u3036\u3037\u303D-\u303F\u309B\u309C\u30A0\u30FB\u3190\u3191\u31C0-\u31EF\u327F\u4DC0-\u4DFF\uA490-\uA4C6\uA4FE\uA4FF\uA60D-\uA60F\uA673\uA67E\uA6F2-\uA716\uA720\uA721\uA789\uA78A\uA828-\uA82B\uA836-\uA839\uA874-\uA877\uA8CE\uA8CF\uA8F8-\uA8FA\uA8FC\uA92E\uA92F\uA95F\uA9C1-\uA9CD\uA9DE\uA9DF\uAA5C-\uAA5F\uAA77-\uAA79\uAADE\uAADF\uAAF0\uAAF1\uAB5B\uAB6A\uAB6B\uABEB\uE000-\uF8FF\uFB29\uFBB2-\uFBD2\uFD3E-\uFD4F\uFD90\uFD91\uFDC8-\uFDCF\uFDFD-\uFDFF\uFE10-\uFE19\uFE30-\uFE6B\uFF01-\uFF06\uFF08-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF3F\uFF5B-\uFF65\uFFE0-\uFFEE\uFFFC\uFFFD\U00010100-\U00010102\U00010137-\U0001013F\U00010179-\U00010189\U0001018C-\U000101FC\U0001039F\U000103D0\U0001056F\U00010857\U00010877\U00010878\U0001091F\U0001093F\U00010A50-\U00010A58\U00010A7F\U00010AC8\U00010AF0-\U00010AF6\U00010B39-\U00010B3F\U00010B99-\U00010B9C\U00010D6E\U00010D8E\U00010D8F\U00010EAD\U00010ED0-\U00010ED8\U00010F55-\U00010F59\U00010F86-\U00010F89\U00011047-\U0001104D\U000110BB\U000110BC\U000110BE-\U000110C1\U00011140-\U00011143\U00011174\U00011175\U000111C5-\U000111C8\U000111CD\U000111DB\U000111DD-\U000111DF\U00011238-\U0001123D\U000112A9\U000113D4-\U000113D8\U0001144B-\U0001144F\U0001145A-\U0001145D\U000114C6\U000115C1-\U000115D7\U00011641-\U00011643\U00011660-\U0001166C\U000116B9\U0001173C-\U0001173F\U0001183B\U00011944-\U00011946\U000119E2\U00011A3F-\U00011A46\U00011A9A-\U00011A9C\U00011A9E-\U00011AA2\U00011B00-\U00011B09\U00011BE1\U00011C41-\U00011C45\U00011C70\U00011C71\U00011EF7\U00011EF8\U00011F43-\U00011F4F\U00011FD5-\U00011FFF\U00012470-\U00012474\U00012FF1\U00012FF2\U00016A6E\U00016A6F\U00016AF5\U00016B37-\U00016B3F\U00016B44\U00016B45\U00016D6D-\U00016D6F\U00016E97-\U00016E9A\U00016FE2\U0001BC9C\U0001BC9F\U0001CC00-\U0001CCD5\U0001CCFA-\U0001CEF0\U0001CF50-\U0001D164\U0001D16A-\U0001D16C\U0001D183\U0001D184\U0001D18C-\U0001D1A9\U0001D1AE-\U0001D241\U0001D245\U0001D300-\U0001D356\U0001D6C1\U0001D6DB\U0001D6FB\U0001D715\U0001D735\U0001D74F\U0001D76F\U0001D789\U0001D7A9\U0001D7C3\U0001D800-\U0001D9FF\U0001DA37-\U0001DA3A\U0001DA6D-\U0001DA74\U0001DA76-\U0001DA83\U0001DA85-\U0001DA8B\U0001E14F\U0001E2FF\U0001E5FF\U0001E95E\U0001E95F\U0001ECAC\U0001ECB0\U0001ED2E\U0001EEF0-\U0001F0F5\U0001F10D-\U0001F10F\U0001F12F\U0001F150-\U0001F169\U0001F16D-\U0001F18F\U0001F191-\U0001F1FF\U0001F260-\U0001FBEF\U0001FBFA\U000F0000-\U0010FFFD]+|([\u20A8\u2100\u2101\u2103\u2105\u2106\u2109\u2116\u2120-\u2122\u213B\u249C-\u24E9\u2E9F\u2EF3-\u2FD5\u3196-\u319F\u3200-\u321E\u322A-\u3247\u3250\u3260-\u327E\u328A-\u32B0\u32C0-\u33FF\uFDFC\U0001CCD6-\U0001CCEF\U0001F110-\U0001F12E\U0001F130-\U0001F14F\U0001F16A-\U0001F16C\U0001F190\U0001F200-\U0001F251])',
                            E'\n\\1\n', 'g'
                        ), NFKD),
                        -- Accents, invisible characters, apostrophes, and what is left of the spaces and punctuation of NFKD.
                        '[\u00AD\u0300-\u036F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF\u0027\u0060\u2018\u2019\u201B\u2032\u02B9\u02BB\u02BC\u02BD\u02BE\u02BF\u055A\u05F3 ·°()./,⁄∕〔〕]',
                        '', 'g'
                    ),
                    'ß', 'ss'), 'ẞ', 'ss'), 'Æ', 'ae'), 'æ', 'ae'), 'Œ', 'oe'), 'œ', 'oe'), 'Þ', 'th'), 'þ', 'th'),
                E'\neanirostlhdumcgbykpvwfjzxq0123456789EANIROSTLHDUMCGBYKPVWFJZXQ'
                'ØøŁłĦħŦŧĐđÐðıςΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐƁƊƏƐƔƗƘƝƳƷŊƆѢѲѴҒҖҘҚҠҢҤҪҮҰҲҶҺӀӘӨԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
                E'\neanirostlhdumcgbykpvwfjzxq0123456789eanirostlhdumcgbykpvwfjzxq'
                'oollhhttddddiσαβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґɓɗəɛɣɨƙɲƴʒŋɔѣѳѵғҗҙқҡңҥҫүұҳҷһӏәөաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ'
            ) COLLATE "C"),
            '\n+', ' ', 'g'
        ))
END
$$;

-- The forms in which a name is searched, each folded: a name with an apostrophe is also found by the words beside it. No fold yields the sign
-- between two forms, so that no search goes on from one into the next.
CREATE OR REPLACE FUNCTION "search_forms"(name TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT fold_for_search(name) || CASE
    WHEN name COLLATE "C" ~ '[''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀]'
        THEN ' | ' || fold_for_search(translate(name, '''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀', '                 '))
    ELSE ''
END
$$;

-- A donor is found with either name first.
CREATE OR REPLACE FUNCTION "donor_search_forms"(first_name TEXT, last_name TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT search_forms(first_name || ' ' || last_name) || ' | ' || search_forms(last_name || ' ' || first_name)
$$;

-- PostgreSQL does not know that the function has changed. What may have to wait for readers comes before what takes long.
REINDEX INDEX "donor_name_idx";
REINDEX INDEX "designation_name_idx";

UPDATE "donor" SET "search_text" = "donor_search_forms"("first_name", "last_name");

UPDATE "deposit_line" SET "donor_search" = "donor_search_forms"("donor_first_name", "donor_last_name") WHERE "donor_id" <> 0;

-- The same question may have another answer now, so that the answer needs another version: gateways and their clients keep answers by it.
INSERT INTO "data_version" ("organization_id", "number", "recorded_at", "cause", "lines_added", "lines_changed", "lines_removed",
    "lines", "transactions", "amount", "fee_amount")
SELECT last."organization_id", last."number" + 1, now(), 'migration', 0, 0, 0, last."lines", last."transactions", last."amount", last."fee_amount"
FROM "data_version" last
WHERE NOT EXISTS (
    SELECT FROM "data_version" later WHERE later."organization_id" = last."organization_id" AND later."number" > last."number"
);
