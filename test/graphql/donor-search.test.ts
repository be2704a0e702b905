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
