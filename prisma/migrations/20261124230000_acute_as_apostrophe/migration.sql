-- An acute accent often stands for an apostrophe, as in O´Brien. NFKD makes a space and an accent of it, so it is dropped before.

-- Imports write donors and funds by the function, and wait until it is done. Readers go on but for the moments in which an index is made
-- again. The order of the tables is that of an import, so that the two cannot block each other for good.
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
                'ØøŁłĐđÐðıςΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐ',
                'oollddddiσαβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґ'
            ) COLLATE "C"),
            '[[:space:].,‐‑‒–—-]+', ' ', 'g'
        ))
    WHEN strpos(translate(value, E'\t\n\x0B\f\r.,-''`', '        '), '  ') > 0 THEN
        btrim(regexp_replace(lower(translate(value, E'\t\n\x0B\f\r.,-''`', '        ') COLLATE "C"), ' +', ' ', 'g'))
    ELSE btrim(lower(translate(value, E'\t\n\x0B\f\r.,-''`', '        ') COLLATE "C"))
END
$$;

UPDATE "donor" SET "search_text" = "fold_for_search"("first_name" || ' ' || "last_name" || ' ' || "first_name")
WHERE strpos("first_name" || "last_name", '´') > 0;

-- What a search compares is no part of an answer, so that the lines keep their data versions.
UPDATE "deposit_line" SET "donor_search" = "fold_for_search"("donor_first_name" || ' ' || "donor_last_name" || ' ' || "donor_first_name")
WHERE strpos("donor_first_name" || "donor_last_name", '´') > 0;

-- PostgreSQL does not know that the function has changed.
REINDEX INDEX "donor_name_idx";
REINDEX INDEX "designation_name_idx";
