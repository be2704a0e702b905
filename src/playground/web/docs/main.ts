import 'swagger-ui-dist/swagger-ui.css';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';

SwaggerUI({
  dom_id: '#document',
  url: '/api/v2/openapi.json',
  // Swagger UI would otherwise ask a public server whether the document is valid.
  validatorUrl: null,
  // A provision is a secret, so that a reload forgets it.
  persistAuthorization: false,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  requestSnippetsEnabled: true,
  supportedSubmitMethods: ['get'],
});
