-- The tables of the gateway. prisma/schema.prisma says what each of them holds. The comments here tell what its language cannot say: checks,
-- functions, the view, partitions, and indexes over expressions. Text that is ordered is ordered bytewise (COLLATE "C"), whatever the
-- server's collation is.

-- Organizations

CREATE TABLE organization (
  id SERIAL PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  hosts TEXT[] DEFAULT ARRAY[]::TEXT[],
  under_maintenance BOOLEAN NOT NULL DEFAULT false,
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  fiscal_year_start INTEGER NOT NULL DEFAULT 1 CHECK (fiscal_year_start BETWEEN 1 AND 12),
  time_zone TEXT NOT NULL DEFAULT 'UTC',
  currency TEXT CHECK (currency ~ '^[A-Z]{3}$'),
  v2_deprecated_at TIMESTAMPTZ,
  v2_sunset_at TIMESTAMPTZ,
  v2_migration_link TEXT,
  CONSTRAINT organization_v2_check CHECK (v2_sunset_at >= v2_deprecated_at)
);
CREATE UNIQUE INDEX organization_name_key ON organization (name);

-- Provisions

CREATE TYPE provision_kind AS ENUM ('WEB', 'MOBILE', 'API');

CREATE TABLE provision (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  kind provision_kind NOT NULL,
  label TEXT NOT NULL DEFAULT '',
  privileges TEXT[] DEFAULT ARRAY[]::TEXT[],
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_used_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  id SERIAL PRIMARY KEY,
  expires_at TIMESTAMPTZ,
  addresses TEXT[] DEFAULT ARRAY[]::TEXT[],
  reports TEXT[] DEFAULT ARRAY[]::TEXT[],
  -- Public provisions are for whole apps.
  CONSTRAINT provision_reports_check CHECK (kind = 'API' OR cardinality(reports) = 0)
);
CREATE INDEX provision_organization_id_idx ON provision (organization_id);

CREATE TABLE provision_key (
  uuid_hash BYTEA PRIMARY KEY,
  link_hash BYTEA NOT NULL,
  provision_id INTEGER NOT NULL REFERENCES provision (id) ON DELETE CASCADE ON UPDATE CASCADE,
  first_characters TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX provision_key_link_hash_key ON provision_key (link_hash);
CREATE INDEX provision_key_provision_id_idx ON provision_key (provision_id);
CREATE INDEX provision_key_first_characters_idx ON provision_key (first_characters);

-- The use of v2. The last index finds an organization's newest day, and the rows of some days.

CREATE TABLE v2_usage (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  provision_id INTEGER NOT NULL REFERENCES provision (id) ON DELETE CASCADE ON UPDATE CASCADE,
  day DATE NOT NULL,
  path TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  requests BIGINT NOT NULL,
  errors BIGINT NOT NULL,
  lines BIGINT NOT NULL,
  last_used_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (provision_id, day, path, user_agent)
);
CREATE INDEX v2_usage_organization_id_day_idx ON v2_usage (organization_id, day);

-- Users and their logins

CREATE TABLE "user" (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  id SERIAL NOT NULL,
  username TEXT COLLATE "C" NOT NULL,
  password_hash TEXT NOT NULL,
  privileges TEXT[] DEFAULT ARRAY[]::TEXT[],
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  disabled_at TIMESTAMPTZ,
  email TEXT,
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX user_organization_id_username_key ON "user" (organization_id, username);

CREATE TABLE session (
  token_hash BYTEA PRIMARY KEY,
  organization_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_seen_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at TIMESTAMPTZ NOT NULL,
  link_hash BYTEA NOT NULL,
  provision_id INTEGER NOT NULL REFERENCES provision (id) ON DELETE CASCADE ON UPDATE CASCADE,
  FOREIGN KEY (organization_id, user_id) REFERENCES "user" (organization_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX session_link_hash_key ON session (link_hash);
CREATE INDEX session_organization_id_user_id_idx ON session (organization_id, user_id);
CREATE INDEX session_provision_id_idx ON session (provision_id);

CREATE TABLE known_address (
  organization_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  address_hash BYTEA NOT NULL,
  last_login_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (organization_id, user_id, address_hash),
  FOREIGN KEY (organization_id, user_id) REFERENCES "user" (organization_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX known_address_last_login_at_idx ON known_address (last_login_at);

CREATE TABLE login_attempt (
  key TEXT PRIMARY KEY,
  points INTEGER NOT NULL DEFAULT 0,
  expire BIGINT
);

-- The cost of operations. The table is UNLOGGED, because each operation writes to it, and a crash may lose a minute.

CREATE UNLOGGED TABLE spent_cost (
  key TEXT PRIMARY KEY,
  points INTEGER NOT NULL DEFAULT 0,
  expire BIGINT
);

-- Links to files

CREATE TABLE link_key (
  id SERIAL PRIMARY KEY,
  key BYTEA NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- The audit: one list for each organization, whose rows are chained by hash. src/formats/audit-row.ts says how a hash is computed.

CREATE TABLE audit_record (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  number BIGINT NOT NULL,
  entry UUID NOT NULL,
  part TEXT NOT NULL,
  at TIMESTAMPTZ(3) NOT NULL,
  kind TEXT NOT NULL,
  door TEXT NOT NULL,
  operation TEXT NOT NULL,
  operation_hash TEXT,
  username TEXT,
  provision_label TEXT,
  provision_start TEXT,
  address TEXT,
  report TEXT,
  format TEXT,
  start_date DATE,
  end_date DATE,
  pending TEXT,
  conditions TEXT[],
  reads BIGINT,
  lines BIGINT,
  bytes BIGINT,
  file_sha256 TEXT,
  digest TEXT,
  money_digest TEXT,
  data_version BIGINT,
  outcome TEXT,
  subject TEXT,
  detail TEXT,
  tells_donors BOOLEAN,
  file_address TEXT,
  rendering INTEGER,
  hash TEXT NOT NULL,
  PRIMARY KEY (organization_id, number)
);
CREATE UNIQUE INDEX audit_record_organization_id_entry_part_key ON audit_record (organization_id, entry, part);
CREATE INDEX audit_record_organization_id_at_idx ON audit_record (organization_id, at);
-- Of two rows of a file, one is in it, and no row of another reading.
CREATE INDEX audit_record_file_sha256_idx ON audit_record (file_sha256) WHERE file_sha256 IS NOT NULL;

CREATE TABLE audit_chain (
  organization_id INTEGER PRIMARY KEY REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  number BIGINT NOT NULL,
  hash TEXT NOT NULL,
  anchor_number BIGINT NOT NULL,
  anchor_hash TEXT NOT NULL
);

-- Saved reports

CREATE TABLE saved_report (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  name TEXT COLLATE "C" NOT NULL,
  query TEXT NOT NULL,
  variables JSONB NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  updated_by TEXT,
  title TEXT,
  period TEXT,
  PRIMARY KEY (organization_id, name)
);

-- The accounts of the journal

-- A row for each saving, so that a journal can be made again by the accounts that it was made by.
CREATE TABLE journal_accounts (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  number INTEGER NOT NULL,
  saved_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  saved_by TEXT,
  bank TEXT NOT NULL,
  fees TEXT NOT NULL,
  funds JSONB NOT NULL,
  PRIMARY KEY (organization_id, number)
);

-- The budgets of the funds

-- A row for each saving. That of a fiscal year with the greatest number is in force.
CREATE TABLE fund_budget (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  start_date DATE NOT NULL,
  number INTEGER NOT NULL,
  saved_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  saved_by TEXT,
  funds JSONB NOT NULL,
  PRIMARY KEY (organization_id, start_date, number)
);

-- The search of names

-- Writes a text as its words: small letters without accents, one space between words, no apostrophes. A word ends at every character that is
-- no letter, mark or number. Invisible characters are not there at all. The classes of characters, the capitals and their small letters are
-- written out as those of Unicode 17, because PostgreSQL's own depend on its version and on the locale. A range may run over code points that
-- Unicode has not assigned. A test compares each code point with JavaScript's \p{L}, \p{M} and \p{N}, and with the page. The function is not
-- STRICT, because PostgreSQL does not write a strict function with a CASE into its callers; it returns NULL for NULL all the same.
CREATE FUNCTION fold_for_search(value TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
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
                            -- Rare capitals, other forms of letters, and what NFKD makes them of, have a list of their own, because few names have
                            -- one and each letter of those would look through the list.
                            CASE
                                WHEN value COLLATE "C" ~ '[\u0182\u0184\u0187\u0189\u018B\u018E\u0191\u0193\u0196\u019C\u019F\u01A2\u01A4\u01A6\u01A7\u01A9\u01AC\u01AE\u01B1\u01B2\u01B5\u01B8\u01BC\u01E4\u01F6\u01F7\u021C\u0220\u0222\u0224\u023A\u023B\u023D\u023E\u0241\u0243-\u0246\u0248\u024A\u024C\u024E\u0370\u0372\u0376\u037F\u03CF\u03D8\u03DA\u03DC\u03DE\u03E0\u03E2\u03E4\u03E6\u03E8\u03EA\u03EC\u03EE\u03F7\u03FA\u03FD-\u03FF\u0460\u0464\u0466\u0468\u046A\u046C\u046E\u0470\u0478\u047A\u047C\u047E\u0480\u048A\u048C\u048E\u0494\u049C\u049E\u04A6\u04A8\u04AC\u04B4\u04B8\u04BC\u04BE\u04C3\u04C5\u04C7\u04C9\u04CB\u04CD\u04D4\u04E0\u04F6\u04FA\u04FC\u04FE\u0500\u0502\u0504\u0506\u0508\u050A\u050C\u050E\u0510\u0512\u0514\u0516\u0518\u051A\u051C\u051E\u0520\u0522\u0524\u0526\u0528\u052A\u052C\u052E\u0671\u10A0-\u10C5\u10C7\u10CD\u13A0-\u13F5\u1C80-\u1C89\u1C90-\u1CBA\u1CBD-\u1CBF\u1D32\u1D3D\u1EFA\u1EFC\u1EFE\u2132\u2183\u2C00-\u2C2F\u2C60\u2C62-\u2C64\u2C67\u2C69\u2C6B\u2C6D-\u2C70\u2C72\u2C75\u2C7E-\u2C80\u2C82\u2C84\u2C86\u2C88\u2C8A\u2C8C\u2C8E\u2C90\u2C92\u2C94\u2C96\u2C98\u2C9A\u2C9C\u2C9E\u2CA0\u2CA2\u2CA4\u2CA6\u2CA8\u2CAA\u2CAC\u2CAE\u2CB0\u2CB2\u2CB4\u2CB6\u2CB8\u2CBA\u2CBC\u2CBE\u2CC0\u2CC2\u2CC4\u2CC6\u2CC8\u2CCA\u2CCC\u2CCE\u2CD0\u2CD2\u2CD4\u2CD6\u2CD8\u2CDA\u2CDC\u2CDE\u2CE0\u2CE2\u2CEB\u2CED\u2CF2\uA640\uA642\uA644\uA646\uA648\uA64A\uA64C\uA64E\uA650\uA652\uA654\uA656\uA658\uA65A\uA65C\uA65E\uA660\uA662\uA664\uA666\uA668\uA66A\uA66C\uA680\uA682\uA684\uA686\uA688\uA68A\uA68C\uA68E\uA690\uA692\uA694\uA696\uA698\uA69A\uA722\uA724\uA726\uA728\uA72A\uA72C\uA72E\uA732\uA734\uA736\uA738\uA73A\uA73C\uA73E\uA740\uA742\uA744\uA746\uA748\uA74A\uA74C\uA74E\uA750\uA752\uA754\uA756\uA758\uA75A\uA75C\uA75E\uA760\uA762\uA764\uA766\uA768\uA76A\uA76C\uA76E\uA779\uA77B\uA77D\uA77E\uA780\uA782\uA784\uA786\uA78B\uA78D\uA790\uA792\uA796\uA798\uA79A\uA79C\uA79E\uA7A0\uA7A2\uA7A4\uA7A6\uA7A8\uA7AA-\uA7AE\uA7B0-\uA7B4\uA7B6\uA7B8\uA7BA\uA7BC\uA7BE\uA7C0\uA7C2\uA7C4-\uA7C7\uA7C9\uA7CB\uA7CC\uA7CE\uA7D0\uA7D2\uA7D4\uA7D6\uA7D8\uA7DA\uA7DC\uA7F5\uFB50\uFB51\U00010400-\U00010427\U000104B0-\U000104D3\U00010570-\U0001057A\U0001057C-\U0001058A\U0001058C-\U00010592\U00010594\U00010595\U00010C80-\U00010CB2\U00010D50-\U00010D65\U000118A0-\U000118BF\U00016E40-\U00016E5F\U00016EA0-\U00016EB8\U0001D7CA\U0001E900-\U0001E921]'
                                    THEN translate(
                                        value,
                                        'ƂƄƇƉƋƎƑƓƖƜƟƢƤƦƧƩƬƮƱƲƵƸƼǤǶǷȜȠȢȤȺȻȽȾɁɃɄɅɆɈɊɌɎͰͲͶͿϏϘϚϜϞϠϢϤϦϨϪϬϮϷϺϽϾϿѠѤѦѨѪѬѮѰѸѺѼѾҀҊҌҎҔҜҞҦҨҬҴҸҼҾӃӅӇӉӋӍӔӠӶӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮႠႡႢႣႤႥႦႧႨႩႪႫႬႭႮႯႰႱႲႳႴႵႶႷႸႹႺႻႼႽႾႿჀჁჂჃჄჅჇჍᎠᎡᎢᎣᎤᎥᎦᎧᎨᎩᎪᎫᎬᎭᎮᎯᎰᎱᎲᎳᎴᎵᎶᎷᎸᎹᎺᎻᎼᎽᎾᎿᏀᏁᏂᏃᏄᏅᏆᏇᏈᏉᏊᏋᏌᏍᏎᏏᏐᏑᏒᏓᏔᏕᏖᏗᏘᏙᏚᏛᏜᏝᏞᏟᏠᏡᏢᏣᏤᏥᏦᏧᏨᏩᏪᏫᏬᏭᏮᏯᏰᏱᏲᏳᏴᏵᲉᲐᲑᲒᲓᲔᲕᲖᲗᲘᲙᲚᲛᲜᲝᲞᲟᲠᲡᲢᲣᲤᲥᲦᲧᲨᲩᲪᲫᲬᲭᲮᲯᲰᲱᲲᲳᲴᲵᲶᲷᲸᲹᲺᲽᲾᲿỺỼỾℲↃⰀⰁⰂⰃⰄⰅⰆⰇⰈⰉⰊⰋⰌⰍⰎⰏⰐⰑⰒⰓⰔⰕⰖⰗⰘⰙⰚⰛⰜⰝⰞⰟⰠⰡⰢⰣⰤⰥⰦⰧⰨⰩⰪⰫⰬⰭⰮⰯⱠⱢⱣⱤⱧⱩⱫⱭⱮⱯⱰⱲⱵⱾⱿⲀⲂⲄⲆⲈⲊⲌⲎⲐⲒⲔⲖⲘⲚⲜⲞⲠⲢⲤⲦⲨⲪⲬⲮⲰⲲⲴⲶⲸⲺⲼⲾⳀⳂⳄⳆⳈⳊⳌⳎⳐⳒⳔⳖⳘⳚⳜⳞⳠⳢⳫⳭⳲꙀꙂꙄꙆꙈꙊꙌꙎꙐꙒꙔꙖꙘꙚꙜꙞꙠꙢꙤꙦꙨꙪꙬꚀꚂꚄꚆꚈꚊꚌꚎꚐꚒꚔꚖꚘꚚꜢꜤꜦꜨꜪꜬꜮꜲꜴꜶꜸꜺꜼꜾꝀꝂꝄꝆꝈꝊꝌꝎꝐꝒꝔꝖꝘꝚꝜꝞꝠꝢꝤꝦꝨꝪꝬꝮꝹꝻꝽꝾꞀꞂꞄꞆꞋꞍꞐꞒꞖꞘꞚꞜꞞꞠꞢꞤꞦꞨꞪꞫꞬꞭꞮꞰꞱꞲꞳꞴꞶꞸꞺꞼꞾꟀꟂꟄꟅꟆꟇꟉꟋꟌ꟎Ꟑ꟒꟔ꟖꟘꟚꟜꟵ𐐀𐐁𐐂𐐃𐐄𐐅𐐆𐐇𐐈𐐉𐐊𐐋𐐌𐐍𐐎𐐏𐐐𐐑𐐒𐐓𐐔𐐕𐐖𐐗𐐘𐐙𐐚𐐛𐐜𐐝𐐞𐐟𐐠𐐡𐐢𐐣𐐤𐐥𐐦𐐧𐒰𐒱𐒲𐒳𐒴𐒵𐒶𐒷𐒸𐒹𐒺𐒻𐒼𐒽𐒾𐒿𐓀𐓁𐓂𐓃𐓄𐓅𐓆𐓇𐓈𐓉𐓊𐓋𐓌𐓍𐓎𐓏𐓐𐓑𐓒𐓓𐕰𐕱𐕲𐕳𐕴𐕵𐕶𐕷𐕸𐕹𐕺𐕼𐕽𐕾𐕿𐖀𐖁𐖂𐖃𐖄𐖅𐖆𐖇𐖈𐖉𐖊𐖌𐖍𐖎𐖏𐖐𐖑𐖒𐖔𐖕𐲀𐲁𐲂𐲃𐲄𐲅𐲆𐲇𐲈𐲉𐲊𐲋𐲌𐲍𐲎𐲏𐲐𐲑𐲒𐲓𐲔𐲕𐲖𐲗𐲘𐲙𐲚𐲛𐲜𐲝𐲞𐲟𐲠𐲡𐲢𐲣𐲤𐲥𐲦𐲧𐲨𐲩𐲪𐲫𐲬𐲭𐲮𐲯𐲰𐲱𐲲𐵐𐵑𐵒𐵓𐵔𐵕𐵖𐵗𐵘𐵙𐵚𐵛𐵜𐵝𐵞𐵟𐵠𐵡𐵢𐵣𐵤𐵥𑢠𑢡𑢢𑢣𑢤𑢥𑢦𑢧𑢨𑢩𑢪𑢫𑢬𑢭𑢮𑢯𑢰𑢱𑢲𑢳𑢴𑢵𑢶𑢷𑢸𑢹𑢺𑢻𑢼𑢽𑢾𑢿𖹀𖹁𖹂𖹃𖹄𖹅𖹆𖹇𖹈𖹉𖹊𖹋𖹌𖹍𖹎𖹏𖹐𖹑𖹒𖹓𖹔𖹕𖹖𖹗𖹘𖹙𖹚𖹛𖹜𖹝𖹞𖹟𖺠𖺡𖺢𖺣𖺤𖺥𖺦𖺧𖺨𖺩𖺪𖺫𖺬𖺭𖺮𖺯𖺰𖺱𖺲𖺳𖺴𖺵𖺶𖺷𖺸𞤀𞤁𞤂𞤃𞤄𞤅𞤆𞤇𞤈𞤉𞤊𞤋𞤌𞤍𞤎𞤏𞤐𞤑𞤒𞤓𞤔𞤕𞤖𞤗𞤘𞤙𞤚𞤛𞤜𞤝𞤞𞤟𞤠𞤡ᴲᴽ𝟊ᲀᲁᲂᲃᲄᲅᲆᲇᲈٱﭐﭑ',
                                        'ƃƅƈɖƌǝƒɠɩɯɵƣƥʀƨʃƭʈʊʋƶƹƽǥƕƿȝƞȣȥⱥȼƚⱦɂƀʉʌɇɉɋɍɏͱͳͷϳϗϙϛϝϟϡϣϥϧϩϫϭϯϸϻͻͼͽѡѥѧѩѫѭѯѱѹѻѽѿҁҋҍҏҕҝҟҧҩҭҵҹҽҿӄӆӈӊӌӎӕӡӷӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯⴀⴁⴂⴃⴄⴅⴆⴇⴈⴉⴊⴋⴌⴍⴎⴏⴐⴑⴒⴓⴔⴕⴖⴗⴘⴙⴚⴛⴜⴝⴞⴟⴠⴡⴢⴣⴤⴥⴧⴭꭰꭱꭲꭳꭴꭵꭶꭷꭸꭹꭺꭻꭼꭽꭾꭿꮀꮁꮂꮃꮄꮅꮆꮇꮈꮉꮊꮋꮌꮍꮎꮏꮐꮑꮒꮓꮔꮕꮖꮗꮘꮙꮚꮛꮜꮝꮞꮟꮠꮡꮢꮣꮤꮥꮦꮧꮨꮩꮪꮫꮬꮭꮮꮯꮰꮱꮲꮳꮴꮵꮶꮷꮸꮹꮺꮻꮼꮽꮾꮿᏸᏹᏺᏻᏼᏽᲊაბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰჱჲჳჴჵჶჷჸჹჺჽჾჿỻỽỿⅎↄⰰⰱⰲⰳⰴⰵⰶⰷⰸⰹⰺⰻⰼⰽⰾⰿⱀⱁⱂⱃⱄⱅⱆⱇⱈⱉⱊⱋⱌⱍⱎⱏⱐⱑⱒⱓⱔⱕⱖⱗⱘⱙⱚⱛⱜⱝⱞⱟⱡɫᵽɽⱨⱪⱬɑɱɐɒⱳⱶȿɀⲁⲃⲅⲇⲉⲋⲍⲏⲑⲓⲕⲗⲙⲛⲝⲟⲡⲣⲥⲧⲩⲫⲭⲯⲱⲳⲵⲷⲹⲻⲽⲿⳁⳃⳅⳇⳉⳋⳍⳏⳑⳓⳕⳗⳙⳛⳝⳟⳡⳣⳬⳮⳳꙁꙃꙅꙇꙉꙋꙍꙏꙑꙓꙕꙗꙙꙛꙝꙟꙡꙣꙥꙧꙩꙫꙭꚁꚃꚅꚇꚉꚋꚍꚏꚑꚓꚕꚗꚙꚛꜣꜥꜧꜩꜫꜭꜯꜳꜵꜷꜹꜻꜽꜿꝁꝃꝅꝇꝉꝋꝍꝏꝑꝓꝕꝗꝙꝛꝝꝟꝡꝣꝥꝧꝩꝫꝭꝯꝺꝼᵹꝿꞁꞃꞅꞇꞌɥꞑꞓꞗꞙꞛꞝꞟꞡꞣꞥꞧꞩɦɜɡɬɪʞʇʝꭓꞵꞷꞹꞻꞽꞿꟁꟃꞔʂᶎꟈꟊɤꟍ꟏ꟑꟓꟕꟗꟙꟛƛꟶ𐐨𐐩𐐪𐐫𐐬𐐭𐐮𐐯𐐰𐐱𐐲𐐳𐐴𐐵𐐶𐐷𐐸𐐹𐐺𐐻𐐼𐐽𐐾𐐿𐑀𐑁𐑂𐑃𐑄𐑅𐑆𐑇𐑈𐑉𐑊𐑋𐑌𐑍𐑎𐑏𐓘𐓙𐓚𐓛𐓜𐓝𐓞𐓟𐓠𐓡𐓢𐓣𐓤𐓥𐓦𐓧𐓨𐓩𐓪𐓫𐓬𐓭𐓮𐓯𐓰𐓱𐓲𐓳𐓴𐓵𐓶𐓷𐓸𐓹𐓺𐓻𐖗𐖘𐖙𐖚𐖛𐖜𐖝𐖞𐖟𐖠𐖡𐖣𐖤𐖥𐖦𐖧𐖨𐖩𐖪𐖫𐖬𐖭𐖮𐖯𐖰𐖱𐖳𐖴𐖵𐖶𐖷𐖸𐖹𐖻𐖼𐳀𐳁𐳂𐳃𐳄𐳅𐳆𐳇𐳈𐳉𐳊𐳋𐳌𐳍𐳎𐳏𐳐𐳑𐳒𐳓𐳔𐳕𐳖𐳗𐳘𐳙𐳚𐳛𐳜𐳝𐳞𐳟𐳠𐳡𐳢𐳣𐳤𐳥𐳦𐳧𐳨𐳩𐳪𐳫𐳬𐳭𐳮𐳯𐳰𐳱𐳲𐵰𐵱𐵲𐵳𐵴𐵵𐵶𐵷𐵸𐵹𐵺𐵻𐵼𐵽𐵾𐵿𐶀𐶁𐶂𐶃𐶄𐶅𑣀𑣁𑣂𑣃𑣄𑣅𑣆𑣇𑣈𑣉𑣊𑣋𑣌𑣍𑣎𑣏𑣐𑣑𑣒𑣓𑣔𑣕𑣖𑣗𑣘𑣙𑣚𑣛𑣜𑣝𑣞𑣟𖹠𖹡𖹢𖹣𖹤𖹥𖹦𖹧𖹨𖹩𖹪𖹫𖹬𖹭𖹮𖹯𖹰𖹱𖹲𖹳𖹴𖹵𖹶𖹷𖹸𖹹𖹺𖹻𖹼𖹽𖹾𖹿𖺻𖺼𖺽𖺾𖺿𖻀𖻁𖻂𖻃𖻄𖻅𖻆𖻇𖻈𖻉𖻊𖻋𖻌𖻍𖻎𖻏𖻐𖻑𖻒𖻓𞤢𞤣𞤤𞤥𞤦𞤧𞤨𞤩𞤪𞤫𞤬𞤭𞤮𞤯𞤰𞤱𞤲𞤳𞤴𞤵𞤶𞤷𞤸𞤹𞤺𞤻𞤼𞤽𞤾𞤿𞥀𞥁𞥂𞥃ǝȣϝвдосттъѣꙋااا'
                                    )
                                ELSE value
                            END COLLATE "C",
                            '[\u0001-\u0026\u0028-\u002F\u003A-\u0040\u005B-\u005F\u007B-\u00A9\u00AB\u00AC\u00AE-\u00B1\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7\u02C2-\u02C5\u02D2-\u02DF\u02E5-\u02EB\u02ED\u02EF-\u02FF\u0375\u037E\u0384\u0385\u0387\u03F6\u0482\u055B-\u055F\u0589-\u058F\u05BE\u05C0\u05C3\u05C6\u05F4\u0606-\u060F\u061B\u061D-\u061F\u066A-\u066D\u06D4\u06DE\u06E9\u06FD\u06FE\u0700-\u070D\u07F6-\u07F9\u07FE\u07FF\u0830-\u083E\u085E\u0888\u0964\u0965\u0970\u09F2\u09F3\u09FA\u09FB\u09FD\u0A76\u0AF0\u0AF1\u0B70\u0BF3-\u0BFA\u0C77\u0C7F\u0C84\u0D4F\u0D79\u0DF4\u0E3F\u0E4F\u0E5A\u0E5B\u0F01-\u0F17\u0F1A-\u0F1F\u0F34\u0F36\u0F38\u0F3A-\u0F3D\u0F85\u0FBE-\u0FC5\u0FC7-\u0FDA\u104A-\u104F\u109E\u109F\u10FB\u1360-\u1368\u1390-\u1399\u1400\u166D\u166E\u1680\u169B\u169C\u16EB-\u16ED\u1735\u1736\u17D4-\u17D6\u17D8-\u17DB\u1800-\u180A\u1940-\u1945\u19DE-\u19FF\u1A1E\u1A1F\u1AA0-\u1AA6\u1AA8-\u1AAD\u1B4E\u1B4F\u1B5A-\u1B6A\u1B74-\u1B7F\u1BFC-\u1BFF\u1C3B-\u1C3F\u1C7E\u1C7F\u1CC0-\u1CC7\u1CD3\u1FBD\u1FBF-\u1FC1\u1FCD-\u1FCF\u1FDD-\u1FDF\u1FED-\u1FEF\u1FFD-\u200A\u2010-\u2017\u201A\u201C-\u2029\u202F-\u2031\u2033-\u205F\u207A-\u207E\u208A-\u208E\u20A0-\u20A7\u20A9-\u20C1\u2104\u2108\u2114\u2117\u2118\u211E\u211F\u2123\u2125\u2127\u2129\u212E\u213A\u2140-\u2144\u214A-\u214D\u214F\u218A-\u244A\u2500-\u2775\u2794-\u2BFF\u2CE5-\u2CEA\u2CF9-\u2CFC\u2CFE\u2CFF\u2D70\u2E00-\u2E2E\u2E30-\u2E9E\u2EA0-\u2EF2\u2FF0-\u3004\u3008-\u3020\u3030\u3036\u3037\u303D-\u303F\u309B\u309C\u30A0\u30FB\u3190\u3191\u31C0-\u31EF\u327F\u4DC0-\u4DFF\uA490-\uA4C6\uA4FE\uA4FF\uA60D-\uA60F\uA673\uA67E\uA6F2-\uA716\uA720\uA721\uA789\uA78A\uA828-\uA82B\uA836-\uA839\uA874-\uA877\uA8CE\uA8CF\uA8F8-\uA8FA\uA8FC\uA92E\uA92F\uA95F\uA9C1-\uA9CD\uA9DE\uA9DF\uAA5C-\uAA5F\uAA77-\uAA79\uAADE\uAADF\uAAF0\uAAF1\uAB5B\uAB6A\uAB6B\uABEB\uE000-\uF8FF\uFB29\uFBB2-\uFBD2\uFD3E-\uFD4F\uFD90\uFD91\uFDC8-\uFDCF\uFDFD-\uFDFF\uFE10-\uFE19\uFE30-\uFE6B\uFF01-\uFF06\uFF08-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF3F\uFF5B-\uFF65\uFFE0-\uFFEE\uFFFC\uFFFD\U00010100-\U00010102\U00010137-\U0001013F\U00010179-\U00010189\U0001018C-\U000101FC\U0001039F\U000103D0\U0001056F\U00010857\U00010877\U00010878\U0001091F\U0001093F\U00010A50-\U00010A58\U00010A7F\U00010AC8\U00010AF0-\U00010AF6\U00010B39-\U00010B3F\U00010B99-\U00010B9C\U00010D6E\U00010D8E\U00010D8F\U00010EAD\U00010ED0-\U00010ED8\U00010F55-\U00010F59\U00010F86-\U00010F89\U00011047-\U0001104D\U000110BB\U000110BC\U000110BE-\U000110C1\U00011140-\U00011143\U00011174\U00011175\U000111C5-\U000111C8\U000111CD\U000111DB\U000111DD-\U000111DF\U00011238-\U0001123D\U000112A9\U000113D4-\U000113D8\U0001144B-\U0001144F\U0001145A-\U0001145D\U000114C6\U000115C1-\U000115D7\U00011641-\U00011643\U00011660-\U0001166C\U000116B9\U0001173C-\U0001173F\U0001183B\U00011944-\U00011946\U000119E2\U00011A3F-\U00011A46\U00011A9A-\U00011A9C\U00011A9E-\U00011AA2\U00011B00-\U00011B09\U00011BE1\U00011C41-\U00011C45\U00011C70\U00011C71\U00011EF7\U00011EF8\U00011F43-\U00011F4F\U00011FD5-\U00011FFF\U00012470-\U00012474\U00012FF1\U00012FF2\U00016A6E\U00016A6F\U00016AF5\U00016B37-\U00016B3F\U00016B44\U00016B45\U00016D6D-\U00016D6F\U00016E97-\U00016E9A\U00016FE2\U0001BC9C\U0001BC9F\U0001CC00-\U0001CCD5\U0001CCFA-\U0001CEF0\U0001CF50-\U0001D164\U0001D16A-\U0001D16C\U0001D183\U0001D184\U0001D18C-\U0001D1A9\U0001D1AE-\U0001D241\U0001D245\U0001D300-\U0001D356\U0001D6C1\U0001D6DB\U0001D6FB\U0001D715\U0001D735\U0001D74F\U0001D76F\U0001D789\U0001D7A9\U0001D7C3\U0001D800-\U0001D9FF\U0001DA37-\U0001DA3A\U0001DA6D-\U0001DA74\U0001DA76-\U0001DA83\U0001DA85-\U0001DA8B\U0001E14F\U0001E2FF\U0001E5FF\U0001E95E\U0001E95F\U0001ECAC\U0001ECB0\U0001ED2E\U0001EEF0-\U0001F0F5\U0001F10D-\U0001F10F\U0001F12F\U0001F150-\U0001F169\U0001F16D-\U0001F18F\U0001F191-\U0001F1FF\U0001F260-\U0001FBEF\U0001FBFA\U000F0000-\U0010FFFD]+|([\u20A8\u2100\u2101\u2103\u2105\u2106\u2109\u2116\u2120-\u2122\u213B\u249C-\u24E9\u2E9F\u2EF3-\u2FD5\u3196-\u319F\u3200-\u321E\u322A-\u3247\u3250\u3260-\u327E\u328A-\u32B0\u32C0-\u33FF\uFDFC\U0001CCD6-\U0001CCEF\U0001F110-\U0001F12E\U0001F130-\U0001F14F\U0001F16A-\U0001F16C\U0001F190\U0001F200-\U0001F251])',
                            E'\n\\1\n', 'g'
                        ), NFKD),
                        -- Invisible characters, apostrophes, and what is left of the spaces and punctuation of NFKD; then accents of all scripts.
                        '[\u00AD\u0300-\u036F\u0600-\u0605\u061C\u06DD\u070F\u0890\u0891\u08E2\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U000110BD\U000110CD\U00013430-\U0001343F\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF\u0027\u0060\u2018\u2019\u201B\u2032\u02B9\u02BB\u02BC\u02BD\u02BE\u02BF\u055A\u05F3 ·°()./,⁄∕〔〕'
                        '\u0483-\u0489\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED\u0711\u0730-\u074A\u07EB-\u07F3\u07FD\u0816-\u0819\u081B-\u0823\u0825-\u0827\u0829-\u082D\u0859-\u085B\u0897-\u089F\u08CA-\u08E1\u08E3-\u08FF\u093C\u0951-\u0954\u09BC\u0A3C\u0ABC\u0AFD-\u0AFF\u0B3C\u0C3C\u0CBC\u135D-\u135F\u1AB0-\u1ADD\u1AE0-\u1AEB\u1C37\u1CD0-\u1CD2\u1CD4-\u1CE0\u1CE2-\u1CE8\u1CED\u1CF4\u1CF8\u1CF9\u1DC0-\u1DFF\u20D0-\u20F0\u2CEF-\u2CF1\u2DE0-\u2DFF\u302A-\u302D\uA66F-\uA672\uA674-\uA67D\uA69E\uA69F\uFB1E\uFE20-\uFE2F\U000101FD\U000102E0\U00010EFA-\U00010EFF\U000110BA\U00011173\U000111CA\U00011236\U000112E9\U0001133B\U0001133C\U00011446\U000114C3\U000115C0\U000116B7\U0001183A\U00011943\U00011D42\U0001CF00-\U0001CF2D\U0001CF30-\U0001CF46\U0001D167-\U0001D169\U0001D17B-\U0001D182\U0001D185-\U0001D18B\U0001D1AA-\U0001D1AD\U0001E000-\U0001E006\U0001E008-\U0001E018\U0001E01B-\U0001E021\U0001E023\U0001E024\U0001E026-\U0001E02A\U0001E08F\U0001E944-\U0001E94A]',
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

-- Folded words, and after them the form in which words in Chinese, Japanese or Korean letters are one. No fold yields the sign between two
-- forms, so that no search goes on from one into the next.
CREATE FUNCTION with_unspaced_form(folded TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT folded || CASE
    WHEN folded COLLATE "C" ~ '[\u1100-\u11FF\u2E80-\u31FF\u3400-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\U0001AFF0-\U0001B16F\U00020000-\U0003FFFF] [\u1100-\u11FF\u2E80-\u31FF\u3400-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\U0001AFF0-\U0001B16F\U00020000-\U0003FFFF]'
        THEN ' | ' || regexp_replace(folded COLLATE "C", '([\u1100-\u11FF\u2E80-\u31FF\u3400-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\U0001AFF0-\U0001B16F\U00020000-\U0003FFFF]) (?=[\u1100-\u11FF\u2E80-\u31FF\u3400-\u9FFF\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\U0001AFF0-\U0001B16F\U00020000-\U0003FFFF])', '\1', 'g')
    ELSE ''
END
$$;

-- The forms in which a name is searched, each folded. A name with an apostrophe is also found by the words beside it, and by both as one where
-- a space is beside the apostrophe. The first condition is there because the second function takes a while: it has the letters of which a fold
-- makes Chinese, Japanese or Korean ones.
CREATE FUNCTION search_forms(name TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE
    WHEN name COLLATE "C" ~ '[\u1100-\u11FF\u2E80-\uA48F\uA960-\uA97F\uAC00-\uD7FF\uF900-\uFAFF\uFF00-\uFFEF\U0001AFF0-\U0001B16F\U0001F200-\U0001F2FF\U00020000-\U0003FFFF]'
        THEN with_unspaced_form(fold_for_search(name))
    ELSE fold_for_search(name)
END || CASE
    WHEN name COLLATE "C" ~ '[''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀]'
        THEN ' | ' || fold_for_search(translate(name, '''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀', '                 ')) || CASE
            WHEN name COLLATE "C" ~ '[ \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000][''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀]|[''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀][ \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]'
                THEN ' | ' || fold_for_search(regexp_replace(name COLLATE "C", '[ \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]*[''`´‘’‛′ʹʻʼʽʾʿ՚׳＇｀][ \u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]*', '', 'g'))
            ELSE ''
        END
    ELSE ''
END
$$;

-- A donor is found with either name first.
CREATE FUNCTION donor_search_forms(first_name TEXT, last_name TEXT) RETURNS TEXT LANGUAGE SQL IMMUTABLE PARALLEL SAFE AS $$
SELECT search_forms(first_name || ' ' || last_name) || ' | ' || search_forms(last_name || ' ' || first_name)
$$;

-- The books. Ids that are numbers are exact in JSON: at most 2^53 - 1. Dates have a text of ten characters: no infinity, no BC. The type
-- numeric knows NaN, which is no amount.

-- Names are ordered without regard to case and accents. An index row must fit on a third of a page, and folding can make a name longer, so
-- only its first 100 characters are ordered. An import analyzes the tables that it writes: without SET STATISTICS 0, it would fold up to
-- 30,000 names for statistics that no query needs.

CREATE TABLE designation (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  id BIGINT NOT NULL CONSTRAINT designation_id_range CHECK (id BETWEEN 0 AND 9007199254740991),
  name TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX designation_name_idx ON designation (organization_id, left(fold_for_search(name), 100), id);
ALTER INDEX designation_name_idx ALTER COLUMN 2 SET STATISTICS 0;

CREATE TABLE donor (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  -- Donor 0 is the report's "no donor".
  id BIGINT NOT NULL CONSTRAINT donor_id_range CHECK (id BETWEEN 1 AND 9007199254740991),
  first_name TEXT COLLATE "C" NOT NULL DEFAULT '',
  last_name TEXT COLLATE "C" NOT NULL DEFAULT '',
  address1 TEXT NOT NULL DEFAULT '',
  address2 TEXT NOT NULL DEFAULT '',
  address3 TEXT NOT NULL DEFAULT '',
  city TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '',
  zip TEXT NOT NULL DEFAULT '',
  phone TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  search_text TEXT NOT NULL,
  PRIMARY KEY (organization_id, id)
);
-- The order of lines by the donor's name reads the folded names of all donors from this index. PostgreSQL reads an expression from an index
-- alone where the columns in the expression are in the index too.
CREATE INDEX donor_name_idx ON donor (organization_id, left(fold_for_search(last_name), 100), left(fold_for_search(first_name), 100), id)
  INCLUDE (last_name, first_name);
ALTER INDEX donor_name_idx ALTER COLUMN 2 SET STATISTICS 0, ALTER COLUMN 3 SET STATISTICS 0;

CREATE TYPE deposit_status AS ENUM ('POSTED', 'PENDING');

CREATE TABLE deposit (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  id TEXT COLLATE "C" NOT NULL,
  deposit_date DATE NOT NULL CONSTRAINT deposit_date_range CHECK (deposit_date BETWEEN '0001-01-01' AND '9999-12-31'),
  status deposit_status NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE INDEX deposit_organization_id_deposit_date_id_idx ON deposit (organization_id, deposit_date, id);
CREATE INDEX deposit_organization_id_status_deposit_date_id_idx ON deposit (organization_id, status, deposit_date, id);

CREATE TABLE transaction (
  organization_id INTEGER NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  deposit_id TEXT COLLATE "C" NOT NULL,
  donor_id BIGINT,
  transaction_date DATE NOT NULL CONSTRAINT transaction_date_range CHECK (transaction_date BETWEEN '0001-01-01' AND '9999-12-31'),
  amount DECIMAL(14, 2) NOT NULL,
  fee_amount DECIMAL(14, 2) NOT NULL,
  status TEXT NOT NULL DEFAULT '',
  account_type TEXT NOT NULL DEFAULT '',
  payment_type TEXT NOT NULL DEFAULT '',
  main_memo TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, deposit_id) REFERENCES deposit (organization_id, id) ON DELETE CASCADE ON UPDATE CASCADE,
  FOREIGN KEY (organization_id, donor_id) REFERENCES donor (organization_id, id) ON DELETE RESTRICT ON UPDATE CASCADE,
  CONSTRAINT transaction_amounts_are_numbers CHECK (amount <> 'NaN' AND fee_amount <> 'NaN')
);
CREATE INDEX transaction_organization_id_deposit_id_id_idx ON transaction (organization_id, deposit_id, id);
CREATE INDEX transaction_organization_id_donor_id_transaction_date_id_idx ON transaction (organization_id, donor_id, transaction_date, id);
CREATE INDEX transaction_organization_id_transaction_date_id_idx ON transaction (organization_id, transaction_date, id);
CREATE INDEX transaction_organization_id_amount_id_idx ON transaction (organization_id, amount, id);

CREATE TABLE allocation (
  organization_id INTEGER NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  transaction_id TEXT COLLATE "C" NOT NULL,
  designation_id BIGINT NOT NULL,
  amount DECIMAL(14, 2) CONSTRAINT allocation_amount_is_number CHECK (amount <> 'NaN'),
  memo TEXT NOT NULL DEFAULT '',
  amount_unknown BOOLEAN NOT NULL DEFAULT false,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, transaction_id) REFERENCES transaction (organization_id, id) ON DELETE CASCADE ON UPDATE CASCADE,
  FOREIGN KEY (organization_id, designation_id) REFERENCES designation (organization_id, id) ON DELETE RESTRICT ON UPDATE CASCADE
);
-- A gift has few allocations, so they are sorted by id when they are read, and the index needs no ids.
CREATE INDEX allocation_organization_id_transaction_id_idx ON allocation (organization_id, transaction_id);
CREATE INDEX allocation_organization_id_designation_id_id_idx ON allocation (organization_id, designation_id, id);

-- The report

-- The join from which lines are computed. It is written only here. No column is null but the shares.
CREATE VIEW deposit_detail AS
SELECT
  d.organization_id,
  d.status AS deposit_status,
  d.id AS deposit_id,
  t.transaction_date,
  d.deposit_date,
  t.id AS transaction_id,
  a.id AS allocation_id,
  COALESCE(o.id, 0) AS donor_id,
  COALESCE(o.first_name, '') AS donor_first_name,
  COALESCE(o.last_name, '') AS donor_last_name,
  COALESCE(o.address1, '') AS address1,
  COALESCE(o.address2, '') AS address2,
  COALESCE(o.address3, '') AS address3,
  COALESCE(o.city, '') AS city,
  COALESCE(o.state, '') AS state,
  COALESCE(o.zip, '') AS zip,
  COALESCE(o.phone, '') AS phone,
  COALESCE(o.email, '') AS email_address,
  t.amount,
  t.fee_amount,
  (t.amount - t.fee_amount)::numeric(15, 2) AS net_amount,
  t.status,
  t.account_type,
  t.payment_type,
  a.designation_id,
  g.name AS designation,
  a.memo AS designation_memo,
  t.main_memo,
  -- A gift with one allocation gives all of its amount to it, unless a file said that the share is unknown.
  COALESCE(a.amount, CASE WHEN NOT a.amount_unknown AND beside.organization_id IS NULL THEN t.amount END)::numeric(14, 2) AS allocation_amount,
  a.amount IS NULL AND NOT a.amount_unknown AND beside.organization_id IS NULL AS allocation_amount_inferred,
  COALESCE(o.search_text, '') AS donor_search,
  a.amount AS allocation_known_amount
FROM deposit d
JOIN transaction t ON t.organization_id = d.organization_id AND t.deposit_id = d.id
JOIN allocation a ON a.organization_id = t.organization_id AND a.transaction_id = t.id
JOIN designation g ON g.organization_id = a.organization_id AND g.id = a.designation_id
LEFT JOIN donor o ON o.organization_id = t.organization_id AND o.id = t.donor_id
-- Another allocation of the gift. Its organization is named outside of the subquery too, because Citus looks for the value there that tells the
-- node: a LIMIT would keep it out, and each node would be asked. DISTINCT tells PostgreSQL that one row is enough.
LEFT JOIN LATERAL (
  SELECT DISTINCT other.organization_id FROM allocation other
  WHERE a.amount IS NULL AND other.organization_id = a.organization_id AND other.transaction_id = a.transaction_id AND other.id <> a.id
) beside ON beside.organization_id = a.organization_id;

-- A line moves from the current partition to the past one when it ends.
CREATE TABLE deposit_line (
  organization_id INTEGER NOT NULL,
  since BIGINT NOT NULL,
  until BIGINT NOT NULL DEFAULT 9007199254740991,
  money_since BIGINT NOT NULL,
  donor_id BIGINT NOT NULL,
  designation_id BIGINT NOT NULL,
  deposit_date DATE NOT NULL,
  transaction_date DATE NOT NULL,
  deposit_status deposit_status NOT NULL,
  allocation_amount_inferred BOOLEAN NOT NULL,
  deposit_id TEXT COLLATE "C" NOT NULL,
  transaction_id TEXT COLLATE "C" NOT NULL,
  allocation_id TEXT COLLATE "C" NOT NULL,
  donor_first_name TEXT COLLATE "C" NOT NULL,
  donor_last_name TEXT COLLATE "C" NOT NULL,
  address1 TEXT COLLATE "C" NOT NULL,
  address2 TEXT COLLATE "C" NOT NULL,
  address3 TEXT COLLATE "C" NOT NULL,
  city TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  zip TEXT COLLATE "C" NOT NULL,
  phone TEXT COLLATE "C" NOT NULL,
  email_address TEXT COLLATE "C" NOT NULL,
  amount DECIMAL(14, 2) NOT NULL,
  fee_amount DECIMAL(14, 2) NOT NULL,
  net_amount DECIMAL(15, 2) NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  account_type TEXT COLLATE "C" NOT NULL,
  payment_type TEXT COLLATE "C" NOT NULL,
  designation TEXT COLLATE "C" NOT NULL,
  designation_memo TEXT COLLATE "C" NOT NULL,
  main_memo TEXT COLLATE "C" NOT NULL,
  allocation_amount DECIMAL(14, 2),
  erased_version BIGINT,
  donor_search TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, allocation_id, until)
) PARTITION BY LIST (until);
CREATE TABLE deposit_line_current PARTITION OF deposit_line FOR VALUES IN (9007199254740991);
CREATE TABLE deposit_line_past PARTITION OF deposit_line DEFAULT;
CREATE INDEX deposit_line_report_idx ON deposit_line (organization_id, deposit_date, deposit_id, transaction_id, allocation_id);
CREATE INDEX deposit_line_organization_id_donor_id_deposit_date_idx ON deposit_line (organization_id, donor_id, deposit_date);
-- What changed since a version: the lines that began after it, and those that ended.
CREATE INDEX deposit_line_current_since_idx ON deposit_line_current (organization_id, since);
CREATE INDEX deposit_line_past_until_idx ON deposit_line_past (organization_id, until);

-- PostgreSQL keeps the most common values of a column in pg_statistic, where nothing overwrites the texts of a donor who is erased. No plan needs
-- those of personal texts: a search for a name looks through all of them.
ALTER TABLE donor
  ALTER first_name SET STATISTICS 0, ALTER last_name SET STATISTICS 0, ALTER address1 SET STATISTICS 0,
  ALTER address2 SET STATISTICS 0, ALTER address3 SET STATISTICS 0, ALTER city SET STATISTICS 0,
  ALTER state SET STATISTICS 0, ALTER zip SET STATISTICS 0, ALTER phone SET STATISTICS 0,
  ALTER email SET STATISTICS 0, ALTER search_text SET STATISTICS 0;
ALTER TABLE transaction
  ALTER main_memo SET STATISTICS 0;
ALTER TABLE allocation
  ALTER memo SET STATISTICS 0;
ALTER TABLE deposit_line
  ALTER donor_first_name SET STATISTICS 0, ALTER donor_last_name SET STATISTICS 0, ALTER address1 SET STATISTICS 0,
  ALTER address2 SET STATISTICS 0, ALTER address3 SET STATISTICS 0, ALTER city SET STATISTICS 0,
  ALTER state SET STATISTICS 0, ALTER zip SET STATISTICS 0, ALTER phone SET STATISTICS 0,
  ALTER email_address SET STATISTICS 0, ALTER designation_memo SET STATISTICS 0, ALTER main_memo SET STATISTICS 0,
  ALTER donor_search SET STATISTICS 0;

CREATE TABLE data_version (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  number BIGINT NOT NULL,
  recorded_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  cause TEXT NOT NULL,
  file_name TEXT,
  file_sha256 TEXT,
  lines_added BIGINT NOT NULL,
  lines_changed BIGINT NOT NULL,
  lines_removed BIGINT NOT NULL,
  lines BIGINT NOT NULL,
  transactions BIGINT NOT NULL,
  amount DECIMAL(40, 2) NOT NULL,
  fee_amount DECIMAL(40, 2) NOT NULL,
  earliest BIGINT,
  PRIMARY KEY (organization_id, number)
);
-- Few versions prune the history, and every request for a past state asks for the last of them.
CREATE INDEX data_version_organization_id_earliest_idx ON data_version (organization_id, earliest) WHERE earliest IS NOT NULL;

-- The closes of the books, and the months that each closed.
CREATE TABLE period_close (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  version BIGINT NOT NULL,
  through DATE NOT NULL,
  closed_by TEXT,
  note TEXT,
  reopened_version BIGINT,
  reopened_by TEXT,
  reopen_reason TEXT,
  PRIMARY KEY (organization_id, version)
);

-- The donors who were erased, and nothing of them but their numbers. A donor whose texts came back by SQL was erased again, and has a row of
-- each time. No foreign key leads to the donor: a restored register may name one whom the books do not have yet.
CREATE TABLE erased_donor (
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE RESTRICT ON UPDATE CASCADE,
  donor_id BIGINT NOT NULL CONSTRAINT erased_donor_id_range CHECK (donor_id BETWEEN 1 AND 9007199254740991),
  version BIGINT NOT NULL,
  reason TEXT NOT NULL,
  erased_by TEXT,
  PRIMARY KEY (organization_id, donor_id, version)
);

CREATE TABLE closed_month (
  organization_id INTEGER NOT NULL,
  close_version BIGINT NOT NULL,
  start_date DATE NOT NULL,
  end_date DATE NOT NULL,
  lines BIGINT NOT NULL,
  transactions BIGINT NOT NULL,
  deposits BIGINT NOT NULL,
  line_amount DECIMAL(40, 2) NOT NULL,
  transaction_amount DECIMAL(40, 2) NOT NULL,
  allocation_amount DECIMAL(40, 2),
  unknown_allocations BIGINT NOT NULL,
  digest TEXT NOT NULL,
  money_digest TEXT NOT NULL,
  PRIMARY KEY (organization_id, close_version, start_date),
  FOREIGN KEY (organization_id, close_version) REFERENCES period_close (organization_id, version) ON DELETE CASCADE ON UPDATE CASCADE
);

-- The newest import that an organization has tried and the newest that has succeeded, so that metrics tell an import that changes nothing from
-- one that no longer runs.
CREATE TABLE import_attempt (
  organization_id INTEGER PRIMARY KEY REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  last_attempt_at TIMESTAMPTZ NOT NULL,
  last_success_at TIMESTAMPTZ,
  failures INTEGER NOT NULL DEFAULT 0
);

-- The readings of an organization's old v2 service.
CREATE TABLE sync_state (
  organization_id INTEGER PRIMARY KEY REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  since DATE,
  read_through DATE,
  holder TEXT,
  held_until TIMESTAMPTZ,
  last_round_at TIMESTAMPTZ,
  last_success_at TIMESTAMPTZ,
  last_full_at TIMESTAMPTZ,
  full_tried_at TIMESTAMPTZ,
  failure TEXT,
  full_failure TEXT,
  failures BIGINT NOT NULL DEFAULT 0,
  lines_changed BIGINT NOT NULL DEFAULT 0
);

-- Webhooks. The version that a hook has acknowledged says what it has to be told, so an import writes nothing here.

CREATE TABLE webhook (
  id UUID PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  url TEXT NOT NULL,
  secret BYTEA NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  acknowledged_version BIGINT NOT NULL,
  heartbeat_at TIMESTAMPTZ,
  message_id UUID,
  message_version BIGINT,
  message_at TIMESTAMPTZ,
  attempts INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since TIMESTAMPTZ,
  next_attempt_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  holder UUID,
  disabled_at TIMESTAMPTZ,
  disabled_reason TEXT
);
CREATE INDEX webhook_organization_id_idx ON webhook (organization_id);
CREATE INDEX webhook_next_attempt_at_idx ON webhook (next_attempt_at);

CREATE TABLE webhook_delivery (
  webhook_id UUID NOT NULL REFERENCES webhook (id) ON DELETE CASCADE ON UPDATE CASCADE,
  message_id UUID NOT NULL,
  attempt INTEGER NOT NULL,
  at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  version BIGINT NOT NULL,
  previous BIGINT NOT NULL,
  status INTEGER,
  failure TEXT,
  milliseconds INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, message_id, attempt)
);
CREATE INDEX webhook_delivery_webhook_id_at_idx ON webhook_delivery (webhook_id, at);

-- Reports that are mailed on a schedule. A row of report_mail is there before its mail is, and is unique for a recipient and a period.

CREATE TABLE report_schedule (
  id UUID PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organization (id) ON DELETE CASCADE ON UPDATE CASCADE,
  report_name TEXT COLLATE "C" NOT NULL,
  cron TEXT NOT NULL,
  period TEXT NOT NULL,
  format TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  next_at TIMESTAMPTZ NOT NULL,
  paused_at TIMESTAMPTZ,
  paused_reason TEXT,
  updated_at TIMESTAMPTZ NOT NULL,
  updated_by TEXT,
  FOREIGN KEY (organization_id, report_name) REFERENCES saved_report (organization_id, name) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX report_schedule_organization_id_report_name_idx ON report_schedule (organization_id, report_name);
CREATE INDEX report_schedule_next_at_idx ON report_schedule (next_at);

CREATE TABLE schedule_recipient (
  schedule_id UUID NOT NULL REFERENCES report_schedule (id) ON DELETE CASCADE ON UPDATE CASCADE,
  organization_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  PRIMARY KEY (schedule_id, user_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES "user" (organization_id, id) ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX schedule_recipient_organization_id_user_id_idx ON schedule_recipient (organization_id, user_id);

CREATE TABLE report_mail (
  id UUID PRIMARY KEY,
  schedule_id UUID NOT NULL REFERENCES report_schedule (id) ON DELETE CASCADE ON UPDATE CASCADE,
  request TEXT NOT NULL,
  user_id INTEGER NOT NULL,
  username TEXT NOT NULL,
  start_date DATE NOT NULL,
  end_date DATE NOT NULL,
  period TEXT NOT NULL,
  format TEXT NOT NULL,
  due_at TIMESTAMPTZ NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
  holder UUID,
  sent_at TIMESTAMPTZ,
  sent_as TEXT,
  failure TEXT,
  data_version BIGINT
);
CREATE UNIQUE INDEX report_mail_schedule_id_user_id_start_date_end_date_request_key
  ON report_mail (schedule_id, user_id, start_date, end_date, request);
CREATE UNIQUE INDEX report_mail_schedule_id_user_id_key ON report_mail (schedule_id, user_id) WHERE request <> '' AND state = 'PENDING';
CREATE INDEX report_mail_schedule_id_due_at_idx ON report_mail (schedule_id, due_at);
CREATE INDEX report_mail_state_next_attempt_at_idx ON report_mail (state, next_attempt_at);

-- The newest data version of an organization; 0 before the first. It is no part of the statement that calls it, because Citus joins a table of
-- the coordinator with the newest rows of a distributed one in no other way.
CREATE FUNCTION newest_data_version(organization INTEGER, OUT number BIGINT, OUT recorded_at TIMESTAMPTZ, OUT cause TEXT)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT version.number, version.recorded_at, version.cause INTO number, recorded_at, cause FROM data_version version
  WHERE version.organization_id = organization ORDER BY version.number DESC LIMIT 1;
  number := COALESCE(number, 0);
END
$$;
