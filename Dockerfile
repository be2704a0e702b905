FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm pack --pack-destination /tmp
# The package, beside what package-lock.json names for this system.
WORKDIR /app
RUN cp /build/.npmrc /build/package.json /build/package-lock.json . \
 && npm ci --omit=dev --no-audit --no-fund \
 && tar -xzf /tmp/deposit-gateway-*.tgz --strip-components=1 --no-same-owner \
 && chmod +x dist/main.js \
 && rm .npmrc package-lock.json

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Deposit Gateway" \
      org.opencontainers.image.description="GraphQL and v2 REST gateway over a non-profit's deposit data" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data DEMO=off
# Nothing installs packages here.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
 && mkdir /data && chown node:node /data
COPY --from=build /app /app
RUN ln -s /app/dist/main.js /usr/local/bin/deposit-gateway
WORKDIR /data
USER node
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.PORT+'/ready').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# `docker run IMAGE migrate` runs another command. Node is the first process, which gets the signals.
ENTRYPOINT ["node", "--", "/app/dist/main.js"]
CMD ["serve"]
