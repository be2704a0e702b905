import type { ImportLine, RawLine } from '../../formats/import-line';
import type { NamesOf } from '../../line/line-fields';
import { toMoney } from '../../values/money';

const DAYS = 730;
const DONORS = 1400;
const MS_PER_DAY = 86_400_000;
const PENDING_DAYS = 5;

const firstNames = [
  ...['Ada', 'Åsa', 'Bao', 'Carlos', 'Chiara', 'Deborah', 'Émile', 'Fatima', 'George', 'Hana', 'Ivan', 'José', 'Kwame', 'Léa', 'Mary Ann'],
  ...[
    'Nguyễn',
    'Olga',
    'Priya',
    'Quentin',
    'Ruth',
    'Søren',
    'Tomás',
    'Uchenna',
    'Violet 🌻',
    'William "Bill"',
    'Xin',
    'Yusuf',
    'Zoë',
    '',
    '李',
  ],
];
const lastNames = [
  ...[
    'Andersson',
    "O'Brien",
    'Böhm',
    'Çelik',
    'Delacroix',
    'Eze',
    'Fernández',
    'Gupta',
    'Haddad',
    'Ivanova',
    'Jackson',
    'Kowalski',
    'Lopez-Ruiz',
  ],
  ...[
    'Müller',
    'Nakamura',
    'Okafor',
    'Petrović',
    "D'Angelo",
    'Rossi',
    'Smith',
    'Tran',
    'Ueda',
    'van der Berg',
    'Wright, Jr.',
    'Yılmaz',
    'Zhang',
    'Family Trust',
    'St. Mary\\St. John',
  ],
];
const streets = ['Main St', 'Elm Avenue', 'Río Grande Blvd', 'Church Rd', '2nd St NE', 'Rue de l’Église', 'Königsallee', 'County Road 7'];
const cities = [
  ['Springfield', 'IL', '62701'],
  ['Portland', 'OR', '97201'],
  ['San José', 'CA', '95110'],
  ['Boston', 'MA', '02108'],
  ['Cañon City', 'CO', '81212'],
  ['Atlanta', 'GA', '30303'],
  ['Coeur d’Alene', 'ID', '83814'],
] as const;
const designations = [
  ...['General Fund', 'Missions', 'Building Fund', 'Youth & Families', 'Food Pantry', 'Disaster Relief', 'Scholarships', 'Music Ministry'],
  ...['Christmas Offering', 'Benevolence', 'Camp "Pine Ridge"', 'Radio', 'Translation – Español', 'Clean Water', 'Seniors', 'Endowment'],
];
/** Round amounts that people usually give, in cents. */
const usualGifts = [1000, 2000, 2500, 2500, 5000, 5000, 10_000, 10_000, 15_000, 20_000, 25_000, 50_000, 100_000, 250_000];

/**
 * Creates about 20,000 realistic lines over the two years up to `today` (UTC): split gifts, pending deposits, gifts without a donor,
 * quotes, accents and emoji, negative adjustments. Every run on the same day gives the same lines.
 */
export async function* createDemoLines(today: Date): AsyncGenerator<readonly RawLine[]> {
  const random = createRandom(20_231);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const donors = Array.from({ length: DONORS }, (_, position) => createDonor(position + 1, random, pick));
  let line = 0;
  let transactionNumber = 500_000;
  let allocationNumber = 900_000;

  for (let day = DAYS - 1; day >= 0; day--) {
    const date = new Date(today.getTime() - day * MS_PER_DAY);
    const deposit_date = toDateText(date);
    const isSunday = date.getUTCDay() === 0;
    const isChristmasTime = date.getUTCMonth() === 11;
    const batches = isSunday ? 3 : 1;
    for (let batch = 1; batch <= batches; batch++) {
      const deposit_id = `${deposit_date.replaceAll('-', '')}${batch}`;
      const gifts = Math.round((isSunday ? 19 : 12) * (isChristmasTime ? 2 : 1) * (0.6 + random() * 0.8));
      for (let gift = 0; gift < gifts; gift++) {
        const isOnline = random() < 0.6;
        const isAdjustment = random() < 0.01;
        const usual = random() < 0.85 ? pick(usualGifts) : Math.round(500 + random() * 90_000);
        const amount = isAdjustment ? -usual : usual;
        const fee = isOnline && !isAdjustment ? Math.round(amount * 0.022) + 30 : 0;
        const transaction = {
          deposit_id,
          deposit_date,
          transaction_date: toDateText(new Date(date.getTime() - Math.floor(random() * 3) * MS_PER_DAY)),
          transaction_id: `${isOnline ? 'P' : ''}${++transactionNumber}`,
          amount: toMoney(BigInt(amount)),
          fee_amount: toMoney(BigInt(fee)),
          net_amount: toMoney(BigInt(amount - fee)),
          status: isAdjustment ? 'Adjusted' : pick(['Complete', 'Complete', 'Complete', 'Settled', '']),
          account_type: isOnline ? pick(['Checking', 'Savings', 'Visa', 'Mastercard', 'Amex']) : '',
          payment_type: isOnline ? pick(['ACH', 'Credit Card']) : pick(['Check', 'Cash']),
          main_memo: random() < 0.05 ? pick(['In memory of Grandma ❤', 'Thank you!', 'For the "new roof"', 'Año nuevo']) : '',
          deposit_status: day < PENDING_DAYS ? 'pending' : 'posted',
          ...(random() < 0.07 ? NOBODY : pick(donors)),
        } as const;
        const shares = splitAmount(amount, random() < 0.2 ? 2 + Math.floor(random() * 3) : 1, random);
        const first = Math.floor(random() * designations.length);
        for (const [position, share] of shares.entries()) {
          const fund = (first + position) % designations.length;
          const values: ImportLine = {
            ...transaction,
            allocation_id: `${isOnline ? 'P' : ''}${++allocationNumber}`,
            allocation_amount: toMoney(BigInt(share)),
            designation_id: 100 + fund,
            designation: designations[fund]!,
            designation_memo: random() < 0.03 ? pick(['Pledge 2 of 12', 'Matching gift', 'Anniversary; 50 years']) : '',
          };
          yield [{ line: ++line, values }];
        }
      }
    }
  }
}

type DonorFields = Pick<ImportLine, NamesOf<'donor'>>;

const NOBODY: DonorFields = {
  donor_id: 0,
  donor_first_name: '',
  donor_last_name: '',
  address1: '',
  address2: '',
  address3: '',
  city: '',
  state: '',
  zip: '',
  phone: '',
  email_address: '',
};

function createDonor(position: number, random: () => number, pick: <Item>(items: readonly Item[]) => Item): DonorFields {
  const [city, state, zip] = pick(cities);
  return {
    donor_id: 10_000 + position,
    donor_first_name: pick(firstNames),
    donor_last_name: pick(lastNames),
    address1: `${Math.floor(1 + random() * 9900)} ${pick(streets)}`,
    address2: random() < 0.2 ? `Apt #${Math.floor(1 + random() * 40)}` : '',
    address3: random() < 0.02 ? 'c/o "The Office"' : '',
    city,
    state,
    zip,
    phone: random() < 0.7 ? `555-01${String(Math.floor(random() * 100)).padStart(2, '0')}` : '',
    email_address: random() < 0.8 ? `donor${position}@example.org` : '',
  };
}

/** Splits an amount in cents into parts that add up to it. */
function splitAmount(cents: number, parts: number, random: () => number): number[] {
  const shares = Array.from({ length: parts - 1 }, () => Math.round((cents / parts) * (0.5 + random())));
  return [...shares, cents - shares.reduce((sum, share) => sum + share, 0)];
}

/** A source of numbers from 0 to 1, the same in every run (a linear congruential generator with the constants of Numerical Recipes). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const toDateText = (date: Date): string => date.toISOString().slice(0, 10);
