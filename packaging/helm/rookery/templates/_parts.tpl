{{- /* The name of all objects: that of the release, with that of the chart unless it is in it. */ -}}
{{- define "rookery.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name .Release.Name) -}}
{{- $name = printf "%s-%s" .Release.Name .Chart.Name -}}
{{- end -}}
{{- $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "rookery.headless" -}}
{{ include "rookery.name" . }}-pods
{{- end -}}

{{- /* What selects the pods. It can never be changed. */ -}}
{{- define "rookery.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "rookery.labels" -}}
{{ include "rookery.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* http or https; refuses to let everyone in unasked. */ -}}
{{- define "rookery.scheme" -}}
{{- if .Values.tls.secretName -}}
{{- if .Values.unsecured.allowed -}}
{{- fail "Give either tls.secretName (HTTPS) or unsecured.allowed=true (HTTP, everyone may do everything), not both." -}}
{{- end -}}
https
{{- else if .Values.unsecured.allowed -}}
http
{{- else -}}
{{- fail "Without a certificate everyone who reaches the service could do everything. Give tls.secretName, a secret with tls.crt and tls.key, or unsecured.allowed=true." -}}
{{- end -}}
{{- end -}}

{{- define "rookery.port" -}}
{{- if .Values.tls.secretName -}}8443{{- else -}}8080{{- end -}}
{{- end -}}

{{- /* The settings of the chart; those of `settings` come first, since the others must fit the objects. */ -}}
{{- define "rookery.settings" -}}
{{- $scheme := include "rookery.scheme" . -}}
{{- $name := include "rookery.name" . -}}
{{- $hosts := list -}}
{{- range $host := list $name (printf "%s-0.%s" $name (include "rookery.headless" .)) -}}
{{- $in := printf "%s.%s" $host $.Release.Namespace -}}
{{- $hosts = concat $hosts (list $host $in (printf "%s.svc" $in) (printf "%s.svc.%s" $in $.Values.clusterDomain)) -}}
{{- end -}}
{{- $own := dict
  "ServerUrl" (printf "%s://0.0.0.0:%s" $scheme (include "rookery.port" .))
  "ServerUrl.Tcp" (printf "tcp://0.0.0.0:%d" (int .Values.service.subscriptionPort))
  "DataDir" "/data"
  "Security.AllowedHosts" (join ";" (concat $hosts .Values.allowedHosts))
-}}
{{- if eq $scheme "https" -}}
{{- $_ := set $own "Security.Certificate.PemPath" "/certificate/tls.crt" -}}
{{- $_ := set $own "Security.Certificate.KeyPath" "/certificate/tls.key" -}}
{{- with .Values.tls.adminThumbprints -}}
{{- $_ := set $own "Security.WellKnownCertificates.Admin" (join ";" .) -}}
{{- end -}}
{{- else -}}
{{- $_ := set $own "Security.UnsecuredAccessAllowed" "PublicNetwork" -}}
{{- end -}}
{{- with .Values.publicUrl -}}
{{- $_ := set $own "PublicServerUrl" . -}}
{{- end -}}
{{- with .Values.publicSubscriptionUrl -}}
{{- $_ := set $own "PublicServerUrl.Tcp" . -}}
{{- end -}}
{{- range $key := keys $own -}}
{{- if hasKey $.Values.settings $key -}}
{{- fail (printf "The setting '%s' is made from other values of the chart; leave it out of 'settings'." $key) -}}
{{- end -}}
{{- end -}}
{{- merge $own .Values.settings | toPrettyJson -}}
{{- end -}}
