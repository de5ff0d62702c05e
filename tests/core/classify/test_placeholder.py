from __future__ import annotations

import pytest

from memoryreview.core.classify.placeholder import find

from .test_classify import bullets, change

PLACEHOLDERS = [
    "... (rest unchanged)",
    "// existing content",
    "[unchanged]",
    "同上",
    "以下略",
    "(以下同じ)",
    "(나머지 동일)",
    "Rest unverändert",
    "le reste inchangé",
    "el resto igual",
    "<!-- keep -->",
    "TODO: paste the rest",
    "[rest of file unchanged]",
    "[... remaining content unchanged ...]",
    "# ... existing code ...",
    "<!-- rest of the memory stays the same -->",
    "(previous entries omitted)",
    "[...]",
    "…",
    "...",
    "<snip>",
    "[truncated]",
    "[content truncated for brevity]",
    "(other sections unchanged)",
    "[existing entries here]",
    "{existing content}",
    "<existing content>",
    "<!-- previous notes -->",
    "/* unchanged */",
    "// ... keep existing notes ...",
    "- (all other bullets unchanged)",
    "The rest of the document remains unchanged.",
    "... same as before ...",
    "[rest of the entries as above]",
    "<!-- insert existing content here -->",
    "[paste previous content here]",
    "TODO: keep the rest",
    "(etc.)",
    "... and so on",
    "[snipped]",
    "# rest of file",
    "[REST OF FILE]",
    "<rest of file>",
    "(unchanged below)",
    "[no changes to the sections below]",
    "[Original content continues]",
    "[original text preserved]",
    "<!-- ... -->",
    "[... 40 more lines ...]",
    "(40 lines omitted)",
    "[+ 35 more entries]",
    "(weitere Einträge unverändert)",
    "[Rest der Datei]",
    "(übriger Inhalt wie gehabt)",
    "// restlicher Inhalt bleibt gleich",
    "[... bestehende Einträge ...]",
    "(contenu existant conservé)",
    "[reste du fichier]",
    "(suite inchangée)",
    "... le reste est identique ...",
    "[contenu précédent]",
    "(resto del archivo)",
    "[contenido existente]",
    "(lo demás sin cambios)",
    "(el resto se mantiene)",
    "(restante do arquivo inalterado)",
    "[conteúdo existente]",
    "(o resto permanece igual)",
    "[resto del file invariato]",
    "(contenuto esistente)",
    "（其余部分不变）",
    "[剩余内容同上]",
    "……（略）",
    "（省略）",
    "[此处省略]",
    "// 保留原有内容",
    "[原文不变]",
    "（後略）",
    "（以下、変更なし）",
    "[既存の内容]",
    "（残りはそのまま）",
    "［中略］",
    "（他は同じ）",
    "[기존 내용 유지]",
    "(이하 생략)",
    "(중략)",
    "[나머지 내용]",
    "(остальное без изменений)",
    "[остальная часть файла]",
    "(pozostała część bez zmian)",
    "(resten oförändrat)",
    "(rest ongewijzigd)",
    "[kalan kısım aynı]",
    "(phần còn lại giữ nguyên)",
]

ORDINARY = [
    "The file format is unchanged since 2024",
    "Keep the existing tests green",
    "Keep existing notes short",
    "Remaining entries are listed in log.md",
    "The rest API stays on v2",
    "Everything else is in project_log.md",
    "See above for the ports",
    "Same rules apply to staging",
    "Omitted fields default to null",
    "Wait for the rest of the team before a deploy",
    "The rest of the file is generated",
    "Use `...` for spread",
    "Ask before touching existing content",
    "TODO: call Ana",
    "TODO: write the rest of the tests",
    "The remaining budget is 200 EUR",
    "Rest day is Sunday",
    "Previous entries were moved to archive.md",
    "Other sections are in notes.md",
    "以下是端口列表",
    "其余服务由运维管理",
    "同上一个版本相比更快",
    "以下の手順で行う",
    "残りのタスクは 3 件",
    "나머지 작업은 다음 주",
    "기존 서버는 유지한다",
    "Der Rest des Teams arbeitet remote",
    "Le reste de l'équipe est à Lyon",
    "El resto del equipo trabaja remoto",
    "Truncate the table before the import",
    "Unchanged files are skipped by the importer",
    "Keep the rest API key in the vault",
    "The existing code is in src/",
    "Keep other users informed",
    "Snip the cable",
    "keep",
    "Keep existing behaviour when the flag is off",
    "Prices remain the same",
    "No changes on Friday",
    "The rest is history",
    "no changes after 17:00",
    "Preserve the rest of the pipeline when one step fails",
    "Keep all other services running during a deploy",
    "Keep the previous version for a week",
    "Retain existing records for 7 years",
    "Keep the rest of the cluster on 1.28",
    "other entries below 100 are skipped",
    "existing lines are kept by the importer",
    "The remaining lines stay red until noon",
    "重要内容省略しない",
    "其他配置保持默认",
    "他のサービスは同じホスト",
]


@pytest.mark.parametrize("line", PLACEHOLDERS)
@pytest.mark.parametrize("form", ["{}", "- {}", "  {}", "* {}"])
def test_c094_placeholder_is_recognised_in_many_wordings_and_languages(line: str, form: str) -> None:
    assert find(f"- a\n{form.format(line)}\n- b")


@pytest.mark.parametrize("line", ORDINARY)
@pytest.mark.parametrize("form", ["{}", "- {}", "## {}", "1. {}"])
def test_c094_ordinary_prose_is_no_placeholder(line: str, form: str) -> None:
    assert find(form.format(line)) == ""


@pytest.mark.parametrize("line", ["- [existing users](users.md)", "- [x] keep", "- [[previous-notes]]", "...but ask"])
def test_c094_links_and_check_boxes_are_no_asides(line: str) -> None:
    assert find(line) == ""


def test_c094_dots_stand_for_something_only_where_something_goes() -> None:
    base = "# T\n\n" + bullets(*(f"fact {i} about {i * 37}" for i in range(40)))

    replaced = change(base, "# T\n\n...\n")
    added = change(base, base + "\n...\n")

    assert any("placeholder text (“...”), and" in reason for action in replaced.actions for reason in action.reasons)
    assert not any("placeholder" in reason for action in added.actions for reason in action.reasons)


def test_long_line_is_looked_at_no_further() -> None:
    assert find("(rest unchanged) " + "x" * 200) == ""
