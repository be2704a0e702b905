const storageKey = 'deposit-gateway.provision';

/** Reads the Provision that this browser tab used last, else the server's preset, else an empty text. */
export function loadProvision(): string {
  return sessionStorage.getItem(storageKey) ?? presetProvision();
}

/** Stores the Provision for this browser tab only, because an API provision is a credential. */
export function saveProvision(provision: string): void {
  if (provision === '') sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, provision);
}

/** Removes blanks and invisible characters, which pasting may add and a header cannot carry. */
export function toProvision(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '');
}

/** Reads the preset that the server writes into the page as {"provision":"…"}. The page as built holds a placeholder there. */
function presetProvision(): string {
  const content = document.querySelector<HTMLMetaElement>('meta[name="gateway-config"]')?.content ?? '';
  if (!content.startsWith('{')) return '';
  const config: unknown = JSON.parse(content);
  return typeof config === 'object' && config !== null && 'provision' in config ? toProvision(String(config.provision)) : '';
}
