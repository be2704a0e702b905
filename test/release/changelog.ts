/** The section of a version in the changelog, without its heading; undefined where there is none. */
export function findSection(changelog: string, version: string): string | undefined {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${version}] - `));
  return section?.slice(section.indexOf('\n')).trim();
}
