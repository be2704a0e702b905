// Lists the packages whose code a build takes into dist. After all builds, `node src/cli/third-parties.mjs` writes their licenses, which have
// to go with their code, and a bill of materials by which scanners find what has a known fault.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import parseExpression from 'spdx-expression-parse';
import standardLicenses from 'spdx-license-list/full.js';

const OUTPUT = 'dist.next';
const LISTS = join(OUTPUT, 'packages');
const LICENSE_FILE = /^(licen[cs]e|copying|notice|third-?party)|\.license(\.txt)?$/i;

/**
 * Packages that a build may hold in two versions or from two folders, with the reason. Two copies of any other package are refused: an object
 * of one is no instance of the other's class.
 */
const TWICE = {
  '@graphql-tools/utils':
    '@graphql-tools/merge and @graphql-tools/schema have one copy each, of one version; they exchange documents and schemas of graphql',
  '@noble/curves': 'age-encryption and its @noble/post-quantum fix different versions; points of one stay within it',
  '@noble/hashes': 'age-encryption and its @noble/post-quantum fix different versions; they exchange bytes',
  b4a: 'tar-stream and the streams below it have a copy each; both hand on the buffers of Node',
  clsx: 'it joins names of classes of styles into a text',
  'content-type': 'express, its parser of bodies and type-is have a copy each; all turn a text into names and values',
  cookie: 'express 5 has the version before ours; both turn a text into names and values',
  'postgres-array': 'pg and the adapter of Prisma have one each; both turn a text into an array',
  'react-compiler-runtime': "GraphiQL's packages fix different versions; each component uses its own alone",
};

/** Parts of packages with a license of their own, of which the packages bring no text. */
const PARTS = {
  'monaco-editor': [{ part: 'codicon.ttf, the icons of Visual Studio Code, by Microsoft Corporation', license: 'CC-BY-4.0' }],
};

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
      for (const name of findTwice([...folders]).filter((each) => !Object.hasOwn(TWICE, each)))
        this.error(`${name} is bundled twice: have one version of it, or give a reason in TWICE`);
      mkdirSync(LISTS, { recursive: true });
      writeFileSync(join(LISTS, `${build}.json`), JSON.stringify([...folders]));
    },
  };
}

/** The names of the packages that come from more than one folder. */
function findTwice(folders) {
  const names = folders.map((folder) => readPackage(folder).name);
  return names.filter((name, index) => names.indexOf(name) < index);
}

if (import.meta.filename === process.argv[1]) {
  const lists = readdirSync(LISTS).map((name) => JSON.parse(readFileSync(join(LISTS, name), 'utf8')));
  rmSync(LISTS, { recursive: true });
  const twice = lists.flatMap(findTwice);
  const once = Object.keys(TWICE).filter((name) => !twice.includes(name));
  if (once.length > 0) throw new Error(`No build has two copies of ${once.join(', ')} any more: take the name out of TWICE`);
  const folders = lists.flat();
  // One version of a package may be installed in two places.
  const bundled = new Map(folders.map((folder) => [nameOf(readPackage(folder)), folder]));
  const names = [...bundled.keys()].sort();
  writeFileSync(join(OUTPUT, 'third-party-notices.txt'), names.map((name) => describe(name, bundled.get(name))).join('\n'));
  writeFileSync(join(OUTPUT, 'sbom.cdx.json'), writeBill(names.map((name) => readPackage(bundled.get(name)))));
}

function nameOf({ name, version }) {
  return `${name} ${version}`;
}

/** The license of a package, with the texts that it brings, or with the standard text where it brings none. */
function describe(name, folder) {
  const { name: plain, license = 'unknown', author } = readPackage(folder);
  const texts = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const by = typeof author === 'object' ? author.name : author;
  const id = typeof license === 'object' ? license.type : license;
  if (texts.length === 0) texts.push(standardText(id, by ?? `the authors of ${name}`));
  for (const { part, license: ofPart } of PARTS[plain] ?? []) texts.push(`${part}\nLicense: ${ofPart}`, standardText(ofPart, part));
  const stated = `${name}\nLicense: ${id}${by ? `\nAuthor: ${by}` : ''}`;
  return `${'='.repeat(80)}\n${[stated, ...texts].join('\n\n')}\n`;
}

/** The text of a license in the list of SPDX, with its copyright holder. A license that is not there, or that asks for more, fails the build. */
function standardText(id, holder) {
  const text = standardLicenses[id]?.licenseText.replace('<year> <copyright holders>', holder).trim();
  if (text === undefined || /<[a-z ]+>/.test(text)) throw new Error(`${holder}: no text of the license ${id} is at hand`);
  return text;
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
