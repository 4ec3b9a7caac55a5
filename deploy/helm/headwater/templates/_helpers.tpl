{{- define "headwater.name" -}}
{{- .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The release's name, which most people call headwater. */}}
{{- define "headwater.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "headwater.selectorLabels" -}}
app.kubernetes.io/name: {{ include "headwater.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "headwater.labels" -}}
{{ include "headwater.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "headwater.secretName" -}}
{{- default (include "headwater.fullname" .) .Values.secret.existing }}
{{- end }}

{{/* Not empty if the store is a database. */}}
{{- define "headwater.hasDatabase" -}}
{{- if or .Values.database.url .Values.database.inExistingSecret }}yes{{ end }}
{{- end }}

{{- define "headwater.scheme" -}}
{{- if .Values.tls.secretName }}https{{ else }}http{{ end }}
{{- end }}

{{/* Refuses values that do not fit together, by their names. */}}
{{- define "headwater.check" -}}
{{- if not .Values.publicUrl }}
{{- fail "publicUrl is missing: set it to the address of the nodes from outside, such as https://node.example.com" }}
{{- end }}
{{- if and .Values.database.inExistingSecret (not .Values.secret.existing) }}
{{- fail "database.inExistingSecret needs secret.existing: name the Secret that has HEADWATER_DATABASE_URL" }}
{{- end }}
{{- if include "headwater.hasDatabase" . }}
{{- if not .Values.secret.existing }}
{{- range $name := list "secretKey" "clusterSecret" }}
{{- if not (get $.Values.secret $name) }}
{{- fail (printf "secret.%s is missing: nodes on one database share it. Set it, or name a Secret with secret.existing" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- else if gt (int .Values.replicaCount) 1 }}
{{- fail "replicaCount: several nodes need a database; set database.url, or replicaCount to 1" }}
{{- end }}
{{- end }}
