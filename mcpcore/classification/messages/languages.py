"""The commonest sentences in other languages: of localised systems, databases and services, letters without accents."""

from __future__ import annotations

from typing import Final

from mcpcore.classification.messages.row import MessageRow
from mcpcore.codes import ErrorCode

_C = ErrorCode

# fmt: off
LANGUAGES: Final[tuple[MessageRow, ...]] = (
    # German, French, Spanish, Portuguese, Italian, Dutch, in this order within each row
    MessageRow(_C.UNAUTHORIZED, (
        "anmeldung|authentifizierung [ist] fehlgeschlagen|erforderlich|notig|noetig|abgelaufen",
        "falsches|ungultiges|ungueltiges passwort|kennwort|token",
        "passwort|kennwort|zugangsdaten|anmeldedaten|token .. falsch|ungultig|ungueltig|abgelaufen",
        "falsche|ungultige|ungueltige zugangsdaten|anmeldedaten", "nicht angemeldet|authentifiziert|eingeloggt",
        "sitzung .. abgelaufen|ungultig|beendet", "bitte .. anmelden|einloggen",
        "mot de passe .. incorrect|invalide|errone", "authentification .. echouee|requise|echoue",
        "session|jeton .. expire|expiree|invalide", "identifiants .. invalides|incorrects", "non authentifie|connecte",
        "veuillez vous .. connecter|reconnecter|identifier", "contrasena .. incorrecta|invalida|erronea",
        "autenticacion .. fallida|requerida|fallo|fallado",
        "sesion|token .. expirado|caducado|expirada|caducada|invalido", "credenciales .. invalidas|incorrectas|validas",
        "inicie|inicia|iniciar sesion", "no autenticado|autorizado|autorizada", "senha .. incorreta|invalida|errada",
        "autenticacao .. falhou|necessaria|obrigatoria", "sessao|token .. expirou|expirada",
        "credenciais .. invalidas|incorretas", "nao autenticado|autorizado|autorizada", "password .. errata",
        "autenticazione .. fallita|richiesta|riuscita", "sessione .. scaduta", "credenziali .. valide|errate",
        "non autenticato|autorizzato", "wachtwoord .. onjuist|ongeldig", "niet ingelogd|aangemeld",
    )),
    MessageRow(_C.FORBIDDEN, (
        "zugriff .. verweigert|untersagt|verboten",
        "keine .. berechtigung|berechtigungen|rechte|zugriffsrechte|zugriff",
        "nicht berechtigt|erlaubt|gestattet|zulassig|zulaessig", "fehlende berechtigung|berechtigungen|rechte",
        "acces .. refuse|interdit|autorise", "permission .. refusee|accordee", "droits .. insuffisants|suffisants",
        "acceso .. denegado|prohibido", "permiso|permisos .. denegado|denegados|insuficientes|suficientes",
        "no tiene|tienes|tengo .. permiso|permisos|acceso", "sin permiso|permisos", "acesso .. negado|proibido",
        "permissao .. negada", "nao tem|possui .. permissao", "sem permissao", "accesso .. negato|vietato",
        "permesso|autorizzazione .. negato|negata", "permessi insufficienti", "toegang .. geweigerd",
        "geen .. toegang|rechten|toestemming",
    )),
    MessageRow(_C.RATE_LIMITED, (
        "zu viele .. anfragen|versuche|anmeldeversuche|aufrufe", "limit|kontingent .. erreicht|uberschritten|erschopft",
        "limit|kontingent .. ueberschritten|erschoepft", "trop de .. requetes|tentatives|demandes|appels",
        "limite|quota .. atteinte|depassee|depasse|atteint", "demasiadas .. solicitudes|peticiones|consultas",
        "demasiados .. intentos", "limite|cuota .. alcanzado|superado", "limite|cuota .. excedido|superada|excedida",
        "muitas .. solicitacoes|requisicoes|tentativas", "limite|cota .. atingido|atingida|ultrapassado",
        "troppe .. richieste", "troppi .. tentativi", "limite|quota .. raggiunto|superato|superata",
        "te veel .. verzoeken",
    )),
    MessageRow(_C.TIMEOUT, (
        "zeituberschreitung|zeitueberschreitung", "zeitlimit .. uberschritten|ueberschritten|erreicht",
        "wartezeit|zeit .. abgelaufen|uberschritten", "zu lange gedauert", "delai|temps .. depasse|ecoule|expire",
        "tiempo .. agotado|excedido|superado", "se agoto el tiempo", "tempo .. esgotado|excedido|scaduto|esaurito",
        "duurde te lang",
    )),
    MessageRow(_C.CONFLICT, (
        "existiert bereits|schon", "bereits|schon vorhanden|vergeben|registriert|belegt|verwendet", "existe deja",
        "deja utilise|utilisee|existant|pris|prise|enregistre", "ya existe|existen|registrado|esta",
        "ja existe|cadastrado|registrado|esta", "esiste gia", "gia esistente|in|registrato|presente", "bestaat al",
    )),
    MessageRow(_C.NOT_FOUND, (
        "nicht gefunden|vorhanden|auffindbar", "existiert|existieren nicht", "kein|keine|keinen .. gefunden|vorhanden",
        "introuvable|introuvables", "non|pas trouve|trouvee|trouves|trouvees", "n'existe|n'existent pas",
        "aucun|aucune .. trouve|trouvee|fichier|correspond|correspondant|ne",
        "no encontrado|encontrada|encontrados|encontradas", "no existe|existen",
        "no se .. encontro|encontraron|encuentra", "no se .. encontrar|encontrado",
        "ningun|ninguna .. encontrado|encontrada",
        "nao [foi|foram] encontrado|encontrada|encontrados|encontradas|existe|existem", "inexistente",
        "non trovato|trovata|trovati|esiste|esistono", "impossibile trovare", "nessun|nessuna .. trovato|trovata",
        "niet gevonden", "bestaat niet",
    )),
    MessageRow(_C.SERVICE_UNAVAILABLE, (
        "nicht [mehr] verfugbar|verfuegbar|erreichbar", "vorubergehend|voruebergehend", "wartungsarbeiten",
        ("verbindung|verbindungsaufbau .. abgelehnt|fehlgeschlagen|unterbrochen|verweigert|verloren|getrennt"
         "|gescheitert"),
        "uberlastet|ueberlastet", "indisponible|injoignable",
        "connexion .. refusee|echouee|impossible|perdue|interrompue|echoue", "en maintenance", "no [esta] disponible",
        "conexion .. rechazada|rehusada|perdida|fallida|denegada", "en mantenimiento", "sobrecargado", "indisponivel",
        "conexao .. recusada|perdida|falhou", "em manutencao", "non [e] disponibile|raggiungibile",
        "connessione .. rifiutata|persa|fallita|interrotta", "in manutenzione", "niet beschikbaar|bereikbaar",
        "verbinding .. geweigerd|verbroken|mislukt",
    )),
    MessageRow(_C.REQUEST_CANCELLED, (
        "vom benutzer abgebrochen", "wurde abgebrochen", "annulee|annule par", "cancelado|cancelada por|pelo|pela",
        "annullato|annullata",
    )),
    MessageRow(_C.VALIDATION_ERROR, (
        "ungultig|ungultige|ungultiger|ungultiges|ungultigen|ungueltig|ungueltige|ungueltiger|ungueltiges",
        "ist|sind erforderlich", "pflichtfeld|pflichtangabe", "muss|mussen|muessen .. sein|angegeben|enthalten|liegen",
        "darf|durfen|duerfen nicht", "zu lang|kurz|gross|klein", "n'est|est pas valide", "invalide|invalides",
        "obligatoire|obligatoires", "doit|doivent etre|contenir|comporter", "est requis|requise",
        "no [es|son] valido|valida|validos|validas", "invalido|invalida|invalidos|invalidas",
        "obligatorio|obligatoria|obrigatorio|obrigatoria|requerido|requerida",
        "debe|deben|deve|devem ser|tener|contener|ter|conter", "non [e] valido|valida|validi|valide",
        "obbligatorio|obbligatoria", "deve|devono essere|contenere|avere", "ongeldig|ongeldige", "is verplicht",
    )),
)
# fmt: on
