import { expose } from 'comlink';
import { passGatewayErrors } from './gateway-faults';
import { TableKeeper } from './table-keeper';

passGatewayErrors();
expose(new TableKeeper(navigator.languages));
