const storageKey = 'deposit-gateway.provision';
const organizationKey = 'deposit-gateway.organization';

/** The organization of the last login in this browser. */
interface KnownOrganization {
  readonly name: string;
  readonly provision: string;
}

/** Reads the Provision that this browser tab used last, else that of the last login, else the server's preset, else an empty text. */
export function loadProvision(): string {
  return sessionStorage.getItem(storageKey) ?? loadOrganization()?.provision ?? presetProvision();
}

/** Reads the organization of the last login, whose Provision is no secret; undefined where none is remembered. */
export function loadOrganization(): KnownOrganization | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(organizationKey) ?? 'null') as Partial<KnownOrganization> | null;
    if (typeof stored?.name !== 'string' || typeof stored.provision !== 'string') return undefined;
    return { name: stored.name, provision: toProvision(stored.provision) };
  } catch {
    // A text that cannot be read is as good as none: the login asks for the Provision.
    return undefined;
  }
}

export function saveOrganization(organization: KnownOrganization): void {
  localStorage.setItem(organizationKey, JSON.stringify(organization));
}

export function forgetOrganization(): void {
  localStorage.removeItem(organizationKey);
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
