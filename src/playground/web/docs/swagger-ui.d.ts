/** Swagger UI has no types of its own. These are the options that the page sets. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Options {
    readonly dom_id: string;
    readonly url: string;
    readonly validatorUrl: string | null;
    readonly persistAuthorization: boolean;
    readonly deepLinking: boolean;
    readonly defaultModelsExpandDepth: number;
    readonly requestSnippetsEnabled: boolean;
    readonly supportedSubmitMethods: readonly string[];
  }
  export default function SwaggerUI(options: Options): void;
}
