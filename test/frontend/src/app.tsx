import { DepositScreen } from './deposit-screen';
import { DepositsScreen } from './deposits-screen';
import { DonorScreen } from './donor-screen';
import { DonorsScreen } from './donors-screen';
import { FundsScreen } from './funds-screen';
import { addressOf, usePlace } from './place';
import { SessionGate } from './session';

export function App() {
  const { screen, year, id } = usePlace();
  return (
    <SessionGate>
      <nav aria-label="Screens">
        <a href={addressOf('deposits', year)}>Deposits</a>
        <a href={addressOf('funds', year)}>Funds</a>
        <a href={addressOf('donors', year)}>Donors</a>
        <a href={addressOf(screen, year - 1, id)}>Year before</a>
        <a href={addressOf(screen, year + 1, id)}>Year after</a>
      </nav>
      <main key={`${screen} ${id ?? ''}`}>
        {screen === 'deposits' && (id === undefined ? <DepositsScreen year={year} /> : <DepositScreen year={year} depositId={id} />)}
        {screen === 'funds' && <FundsScreen year={year} />}
        {screen === 'donors' && (id === undefined ? <DonorsScreen year={year} /> : <DonorScreen year={year} id={id} />)}
      </main>
    </SessionGate>
  );
}
