// Lists the packages whose code a build takes into dist. After all builds, `node src/cli/third-parties.mjs` writes their licenses, which have
// to go with their code, and a bill of materials by which scanners find what has a known fault.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import parseExpression from 'spdx-expression-parse';

const OUTPUT = 'dist.next';
const LISTS = join(OUTPUT, 'packages');
const LICENSE_FILE = /^(licen[cs]e|copying|notice|third-?party)|\.license(\.txt)?$/i;

/** The folder of the package that a module is of; undefined for one of ours. */
export const packageOf = (id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id.replace(/^\0/, ''))?.[0];

const readPackage = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** A plugin of rolldown and Vite that notes the packages of a build. Bundles of workers within it add to the same list. */
export function listPackages(build) {
  const folders = new Set();
  return {
    name: 'list-packages',
    generateBundle(_options, bundle) {
      for (const { modules = {} } of Object.values(bundle))
        for (const [id, { renderedLength }] of Object.entries(modules)) {
          const folder = packageOf(id);
          // Styles leave no code in the chunk that loads them.
          if (folder !== undefined && (renderedLength > 0 || /\.css\b/.test(id))) folders.add(folder);
        }
      mkdirSync(LISTS, { recursive: true });
      writeFileSync(join(LISTS, `${build}.json`), JSON.stringify([...folders]));
    },
  };
}

if (import.meta.filename === process.argv[1]) {
  const folders = readdirSync(LISTS).flatMap((name) => JSON.parse(readFileSync(join(LISTS, name), 'utf8')));
  rmSync(LISTS, { recursive: true });
  // One version of a package may be installed in two places.
  const bundled = new Map(folders.map((folder) => [nameOf(readPackage(folder)), folder]));
  const names = [...bundled.keys()].sort();
  writeFileSync(join(OUTPUT, 'third-party-notices.txt'), names.map((name) => describe(name, bundled.get(name))).join('\n'));
  writeFileSync(join(OUTPUT, 'sbom.cdx.json'), writeBill(names.map((name) => readPackage(bundled.get(name)))));
}

function nameOf({ name, version }) {
  return `${name} ${version}`;
}

/** The license of a package, with the texts that it brings. */
function describe(name, folder) {
  const { license = 'unknown', author } = readPackage(folder);
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const by = typeof author === 'object' ? author.name : author;
  const stated = `${name}\nLicense: ${typeof license === 'object' ? license.type : license}${by ? `\nAuthor: ${by}` : ''}`;
  return `${'='.repeat(80)}\n${[stated, ...texts].join('\n\n')}\n`;
}

/** The bill of materials in CycloneDX: the packages whose code is here, and those that npm installs beside it. */
function writeBill(packages) {
  const licenses = new Contrib.License.Factories.LicenseFactory(parseExpression);
  const references = new Contrib.FromNodePackageJson.Factories.ExternalReferenceFactory();
  const builder = new Contrib.FromNodePackageJson.Builders.ComponentBuilder(references, licenses);
  const own = readPackage('.');
  const toComponent = (description, type, scope) => {
    const component = builder.makeComponent(description, type);
    const { group, name, version } = component;
    component.purl = new PackageURL('npm', group, name, version, undefined, undefined).toString();
    component.bomRef.value = component.purl;
    component.scope = scope;
    return component;
  };
  const { Application, Library } = Enums.ComponentType;
  const { Optional, Required } = Enums.ComponentScope;
  const installed = Object.entries({ ...own.dependencies, ...own.optionalDependencies }).map(([name, version]) =>
    toComponent({ ...lockedPackage(name), name, version }, Library, name in own.dependencies ? Required : Optional),
  );
  const root = toComponent(own, Application);
  const components = [...packages.map((each) => toComponent(each, Library, Required)), ...installed];
  for (const { bomRef } of components) root.dependencies.add(bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: root }),
    components: new Models.ComponentRepository(components),
  });
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`;
}

/** The facts about a package that the lock file has. Those of other systems are not installed. */
function lockedPackage(name) {
  const { license } = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages[`node_modules/${name}`];
  return { license };
}
