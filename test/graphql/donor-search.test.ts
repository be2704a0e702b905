import fc from 'fast-check';
import { graphql, v2Line } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const NAMES = [
  ['José', 'Müller-Łukasiewicz'],
  ['Søren', 'Ångström'],
  ['Mary Ann', "O'Brien"],
  ['Ελένη', 'Παπαδοπούλου'],
  ['Анна', 'Ёлкина'],
  ['', 'Straße & Söhne, Inc.'],
  ['Æsa', 'van der Berg'],
  ['Sinéad', 'O´Connor'],
  ['Ġużè', 'Ħamrun'],
  ['Günel', 'Əliyeva'],
  ['Әсел', 'Қазақова'],
  ['Արամ', 'Հայկյան'],
] as const;
const gateway = openGateway({
  lines: NAMES.map(([donor_first_name, donor_last_name], index) =>
    v2Line({ donor_id: index + 1, transaction_id: `T${index}`, allocation_id: `A${index}`, donor_first_name, donor_last_name }),
  ),
});

const QUERY = `query ($name: String!) {
  donors(search: $name) { nodes { lastName } totalCount }
  depositDetailsConnection(startDate: "2024-01-01", endDate: "2024-12-31", filter: { donorName: $name }) { nodes { donorLastName } }
}`;

test.each([
  ['muller', ['Müller-Łukasiewicz']],
  ['MÜLLER', ['Müller-Łukasiewicz']],
  ['mu\u0308ller', ['Müller-Łukasiewicz']],
  ['lukasiewicz', ['Müller-Łukasiewicz']],
  ['jose muller', ['Müller-Łukasiewicz']],
  ['muller-lukasiewicz j', ['Müller-Łukasiewicz']],
  ['soren ang', ['Ångström']],
  ['angstrom søren', ['Ångström']],
  ['obrien', ["O'Brien"]],
  ['o’brien  mary', ["O'Brien"]],
  ['ann', ["O'Brien"]],
  ["o'connor", ['O´Connor']],
  ['O´CONNOR sin', ['O´Connor']],
  ['oconnor', ['O´Connor']],
  ['hamrun guze', ['Ħamrun']],
  ['ħAMRUN', ['Ħamrun']],
  ['əliyeva', ['Əliyeva']],
  ['ӘСЕЛ қазақова', ['Қазақова']],
  ['հայկյան արամ', ['Հայկյան']],
  ['παπαδοπουλου', ['Παπαδοπούλου']],
  ['ΕΛΕΝΗ', ['Παπαδοπούλου']],
  ['анна елк', ['Ёлкина']],
  ['STRAẞE', ['Straße & Söhne, Inc.']],
  ['strasse', ['Straße & Söhne, Inc.']],
  ['inc', ['Straße & Söhne, Inc.']],
  ['aesa', ['van der Berg']],
  ['berg', ['van der Berg']],
  ['uller', []],
  ['%', []],
  ['_', []],
  ['-', []],
  ['.', []],
  ['\u0301', []],
])('a caller who searches for %j finds %j', async (name, found) => {
  const { body } = await graphql(gateway.url, QUERY, { provision: gateway.organization.apiProvision, variables: { name } });
  expect(body).toEqual({
    data: {
      donors: { nodes: found.map((lastName) => ({ lastName })), totalCount: found.length },
      depositDetailsConnection: { nodes: found.map((donorLastName) => ({ donorLastName })) },
    },
  });
});

test('a caller finds a name of ASCII by the same text with an accent in it, whatever its characters', async () => {
  const character = fc.oneof(
    fc.constantFrom(' ', '.', ',', '-', "'", '`', '\t', '\n', '\r', '\v', '\f'),
    fc.integer({ min: 1, max: 126 }).map((code) => String.fromCharCode(code)),
  );
  const names = fc.sample(fc.string({ unit: character, maxLength: 12 }), 5000);
  const { rows } = await gateway.database.client.query<{ differing: string[]; folded: string }>(
    `SELECT COALESCE(array_agg(name) FILTER (WHERE fold_for_search(name || 'e.') IS DISTINCT FROM fold_for_search(name || 'é.')), '{}') AS differing,
       fold_for_search(E' \\tO''Neil--van  der Berg, Jr.\\n') AS folded
     FROM unnest($1::text[]) AS name`,
    [names],
  );
  expect(rows).toEqual([{ differing: [], folded: 'oneil van der berg jr' }]);
});
