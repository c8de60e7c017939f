# One picture as SVG and PNG: gnuplot -e "data='x.csv'; picture='x'; kind='bars'; heading='...'; ..." style.gp
# data: what lib/pivot.awk prints. kind: bars, or lines. series: how many; xname, yname: of the axes; logs: of lines, 1 if both are
# logarithmic.
set datafile separator ','
set datafile missing 'NaN'
set title heading
set xlabel xname
set ylabel yname
set key outside below
set grid ytics linecolor rgb '#dddddd'
set border 3
set tics nomirror
names = system(sprintf("head -1 '%s' | tr ' ' '_' | tr ',' ' '", data))
name(i) = system(sprintf("echo '%s' | tr '_' ' '", word(names, 3 * i - 1)))
colour(i) = word('#4477aa #ee6677 #228833 #ccbb44 #66ccee #aa3377', i)

do for [format in 'svg png'] {
    if (format eq 'svg') {
        set terminal svg size 720,420 font 'sans,13' background rgb 'white'
    } else {
        set terminal pngcairo size 1080,630 font 'sans,13' background rgb 'white'
    }
    set output picture.'.'.format
    if (kind eq 'bars') {
        set style data histograms
        set style histogram errorbars gap 2 linewidth 1
        set style fill solid 0.8 border -1
        set bars 0.5
        plot for [i = 1:series] data every ::1 using (column(3 * i - 1)):(column(3 * i)):(column(3 * i + 1)):xtic(1) \
            title name(i) linecolor rgb colour(i)
    } else {
        if (logs) {
            set logscale xy
        }
        plot for [i = 1:series] data every ::1 using 1:(column(3 * i - 1)):(column(3 * i)):(column(3 * i + 1)) \
            with yerrorlines title name(i) linecolor rgb colour(i) linewidth 2 pointtype 7 pointsize 0.5
    }
    set output
}
