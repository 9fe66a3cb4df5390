# cmake -DSOURCE=DIR -DTARGET=DIR -P InstalledDocs.cmake
#
# Copies the documentation to TARGET as it is installed: README.md and the pages of docs/ side by side,
# docs/README.md as index.md. Links between the pages are adjusted; a link to a source file, which is
# not installed, becomes plain text.

# docs_copy(PAGE NAME UP): UP is the path from the page's folder to the root of the sources.
function(docs_copy page name up)
    file(READ "${SOURCE}/${page}" text)
    # CMake gives these characters a meaning of their own in lists and regular expressions.
    string(REPLACE ";" "@SEMICOLON@" text "${text}")
    if(up STREQUAL "")
        string(REPLACE "](docs/README.md" "](index.md" text "${text}")
        string(REPLACE "](docs/" "](" text "${text}")
        set(outside "(\\.ci|bench|cli|cmake|debian|examples|include|src|systems|tests|tools)(/[^)]*)?")
    else()
        string(REGEX REPLACE "^\\.\\./" "" up_to_docs "${up}")
        string(REPLACE "](${up_to_docs}README.md" "](${up_to_docs}index.md" text "${text}")
        string(REGEX REPLACE "\\]\\(${up}([A-Z]+(\\.md)?[#)])" "](${up_to_docs}\\1" text "${text}")
        set(outside "${up}[^)]*")
    endif()
    string(REGEX REPLACE "\\[([^][]*)\\]\\(${outside}\\)" "\\1" text "${text}")
    string(REPLACE "@SEMICOLON@" ";" text "${text}")
    file(WRITE "${TARGET}/${name}" "${text}")
endfunction()

file(REMOVE_RECURSE "${TARGET}")
foreach(page README SECURITY CHANGELOG CONTRIBUTING)
    docs_copy(${page}.md ${page}.md "")
endforeach()
file(COPY "${SOURCE}/LICENSE" DESTINATION "${TARGET}")
file(GLOB_RECURSE pages RELATIVE "${SOURCE}/docs" "${SOURCE}/docs/*.md")
foreach(page IN LISTS pages)
    set(name ${page})
    if(page STREQUAL "README.md")
        set(name index.md)
    endif()
    if(page MATCHES "/")
        docs_copy(docs/${page} ${name} "../../")
    else()
        docs_copy(docs/${page} ${name} "../")
    endif()
endforeach()
file(GLOB pictures "${SOURCE}/docs/*.svg" "${SOURCE}/docs/*.png")
file(COPY ${pictures} DESTINATION "${TARGET}")
