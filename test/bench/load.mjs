// Asks for one URL over 8 connections for some seconds and prints how many answers came a second: node load.mjs SECONDS URL HEADERS-AS-JSON
import autocannon from 'autocannon';

const [seconds, url, headers] = process.argv.slice(2);
const { requests, duration, errors, non2xx } = await autocannon({
  url,
  connections: 8,
  duration: Number(seconds),
  headers: JSON.parse(headers),
});
if (errors + non2xx > 0) throw new Error(`${url}: ${errors} errors, ${non2xx} answers that were not 200`);
console.log(requests.total / duration);
