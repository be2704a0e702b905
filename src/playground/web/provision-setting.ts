const storageKey = 'deposit-gateway.provision';

/** The Provision this browser tab used last, else the one the server presets; empty without either. */
export function loadProvision(): string {
  return sessionStorage.getItem(storageKey) ?? presetProvision();
}

/** Kept for this browser tab only: the Provision of a server is a credential. */
export function saveProvision(provision: string): void {
  if (provision === '') sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, provision);
}

/** Leaves out blanks and the invisible characters that come along when a Provision is pasted; a header cannot carry them. */
export function toProvision(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '');
}

/** The server writes {"provision":"…"} into the page; as built, the page holds a placeholder. */
function presetProvision(): string {
  const content = document.querySelector<HTMLMetaElement>('meta[name="gateway-config"]')?.content ?? '';
  if (!content.startsWith('{')) return '';
  const config: unknown = JSON.parse(content);
  return typeof config === 'object' && config !== null && 'provision' in config ? toProvision(String(config.provision)) : '';
}
