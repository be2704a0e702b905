-- Names in Maltese, Sami, Azerbaijani, Hausa, Kazakh, Tatar, Armenian and others are found whatever their capitals.

-- Imports and repairs write donors and funds before they number their version, and wait until this is done. Readers go on but for the moments
-- in which an index is made again. The order of the tables is that of an import, so that the two cannot block each other for good.
LOCK TABLE "designation", "donor" IN SHARE ROW EXCLUSIVE MODE;

CREATE OR REPLACE FUNCTION "fold_for_search"(value TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE
    -- A text of as many bytes as characters is ASCII.
    WHEN octet_length(value) <> char_length(value) THEN
        btrim(regexp_replace(
            lower(translate(
                replace(replace(replace(replace(replace(replace(replace(replace(
                    regexp_replace(normalize(replace(value, '´', ''), NFKD), '[\u0300-\u036F''’`ʼ]', '', 'g'),
                    'ß', 'ss'), 'ẞ', 'ss'), 'Æ', 'ae'), 'æ', 'ae'), 'Œ', 'oe'), 'œ', 'oe'), 'Þ', 'th'), 'þ', 'th'),
                'ØøŁłĦħŦŧĐđÐðıςΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐƁƊƏƐƔƗƘƝƳƷŊƆѢѲѴҒҖҘҚҠҢҤҪҮҰҲҶҺӀӘӨԱԲԳԴԵԶԷԸԹԺԻԼԽԾԿՀՁՂՃՄՅՆՇՈՉՊՋՌՍՎՏՐՑՒՓՔՕՖ',
                'oollhhttddddiσαβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґɓɗəɛɣɨƙɲƴʒŋɔѣѳѵғҗҙқҡңҥҫүұҳҷһӏәөաբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆ'
            ) COLLATE "C"),
            '[[:space:].,‐‑‒–—-]+', ' ', 'g'
        ))
    WHEN strpos(translate(value, E'\t\n\x0B\f\r.,-''`', '        '), '  ') > 0 THEN
        btrim(regexp_replace(lower(translate(value, E'\t\n\x0B\f\r.,-''`', '        ') COLLATE "C"), ' +', ' ', 'g'))
    ELSE btrim(lower(translate(value, E'\t\n\x0B\f\r.,-''`', '        ') COLLATE "C"))
END
$$;

-- PostgreSQL does not know that the function has changed. What may have to wait for readers comes before what takes long.
REINDEX INDEX "donor_name_idx";
REINDEX INDEX "designation_name_idx";

UPDATE "donor" SET "search_text" = "fold_for_search"("first_name" || ' ' || "last_name" || ' ' || "first_name")
WHERE octet_length("first_name" || "last_name") <> char_length("first_name" || "last_name")
    AND "search_text" <> "fold_for_search"("first_name" || ' ' || "last_name" || ' ' || "first_name");

UPDATE "deposit_line" SET "donor_search" = "fold_for_search"("donor_first_name" || ' ' || "donor_last_name" || ' ' || "donor_first_name")
WHERE octet_length("donor_first_name" || "donor_last_name") <> char_length("donor_first_name" || "donor_last_name")
    AND "donor_search" <> "fold_for_search"("donor_first_name" || ' ' || "donor_last_name" || ' ' || "donor_first_name");

-- The same question may have another answer now, so that the answer needs another version: gateways and their clients keep answers by it.
INSERT INTO "data_version" ("organization_id", "number", "recorded_at", "cause", "lines_added", "lines_changed", "lines_removed",
    "lines", "transactions", "amount", "fee_amount")
SELECT last."organization_id", last."number" + 1, now(), 'migration', 0, 0, 0, last."lines", last."transactions", last."amount", last."fee_amount"
FROM "data_version" last
WHERE NOT EXISTS (
    SELECT FROM "data_version" later WHERE later."organization_id" = last."organization_id" AND later."number" > last."number"
);
